import type { Sentence } from "../shopper-messages.ts";

export const de: Record<Sentence, string> = {
  "We couldn't sign you in. Trying again won't help. Try another way, or contact us.":
    "Wir konnten Sie nicht anmelden. Ein neuer Versuch hilft nicht. Bitte melden Sie sich auf einem anderen Weg an oder wenden Sie sich an uns.",
  "This sign-in has ended. Please start again.":
    "Diese Anmeldung ist beendet. Bitte beginnen Sie noch einmal von vorn.",
  "Please sign in to continue.": "Bitte melden Sie sich an, um fortzufahren.",
  "This way to sign in does not work right now. Please try again soon, or choose another.":
    "Dieser Anmeldeweg funktioniert gerade nicht. Bitte versuchen Sie es bald noch einmal oder wählen Sie einen anderen.",
  "We are very busy right now. Please try again in a moment.":
    "Bei uns ist gerade sehr viel los. Bitte versuchen Sie es gleich noch einmal.",
  "You were not signed in. You can try again, or choose another way.":
    "Sie wurden nicht angemeldet. Sie können es noch einmal versuchen oder einen anderen Weg wählen.",
  "This sign-in was used already. If you are not signed in, please start again.":
    "Diese Anmeldung wurde schon verwendet. Falls Sie nicht angemeldet sind, beginnen Sie bitte noch einmal von vorn.",
  "Too many tries. Please wait a little.": "Zu viele Versuche. Bitte warten Sie ein wenig.",
  "This sign-in has ended or was started in another browser. Please start again.":
    "Diese Anmeldung ist beendet oder wurde in einem anderen Browser begonnen. Bitte beginnen Sie noch einmal von vorn.",
  "We couldn't verify your sign-in. Please start again.":
    "Wir konnten Ihre Anmeldung nicht überprüfen. Bitte beginnen Sie noch einmal von vorn.",
  "The connection broke off. Please try again.":
    "Die Verbindung wurde unterbrochen. Bitte versuchen Sie es noch einmal.",
  "The answer could not be read. Please try again.":
    "Die Antwort konnte nicht gelesen werden. Bitte versuchen Sie es noch einmal.",
  "We couldn't sign you in with this account. Try another way, or contact us.":
    "Wir konnten Sie mit diesem Konto nicht anmelden. Bitte melden Sie sich auf einem anderen Weg an oder wenden Sie sich an uns.",
  "Wrong e-mail or password.": "E-Mail-Adresse oder Passwort ist falsch.",
  "This e-mail already has an account.": "Zu dieser E-Mail-Adresse gibt es bereits ein Konto.",
  "Something went wrong on our side. Please try again.":
    "Bei uns ist ein Fehler aufgetreten. Bitte versuchen Sie es noch einmal.",
  "You sign in with your other account, so you have no password here.":
    "Sie melden sich mit Ihrem anderen Konto an. Deshalb können Sie hier kein Passwort festlegen.",
};
