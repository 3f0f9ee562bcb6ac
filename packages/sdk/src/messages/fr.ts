import type { Sentence } from "../shopper-messages.ts";

export const fr: Record<Sentence, string> = {
  "We couldn't sign you in. Trying again won't help. Try another way, or contact us.":
    "Nous n’avons pas pu vous connecter. Réessayer ne changera rien. Connectez-vous autrement ou contactez-nous.",
  "This sign-in has ended. Please start again.": "Cette connexion est terminée. Veuillez recommencer.",
  "Please sign in to continue.": "Veuillez vous connecter pour continuer.",
  "This way to sign in does not work right now. Please try again soon, or choose another.":
    "Ce mode de connexion ne fonctionne pas pour le moment. Veuillez réessayer bientôt ou en choisir un autre.",
  "We are very busy right now. Please try again in a moment.":
    "Nous recevons beaucoup de demandes en ce moment. Veuillez réessayer dans un instant.",
  "You were not signed in. You can try again, or choose another way.":
    "Vous n’avez pas été connecté. Vous pouvez réessayer ou choisir un autre mode de connexion.",
  "This sign-in was used already. If you are not signed in, please start again.":
    "Cette connexion a déjà été utilisée. Si vous n’êtes pas connecté, veuillez recommencer.",
  "Too many tries. Please wait a little.": "Trop de tentatives. Veuillez patienter un peu.",
  "This sign-in has ended or was started in another browser. Please start again.":
    "Cette connexion est terminée ou a été commencée dans un autre navigateur. Veuillez recommencer.",
  "We couldn't verify your sign-in. Please start again.":
    "Nous n’avons pas pu vérifier votre connexion. Veuillez recommencer.",
  "The connection broke off. Please try again.": "La connexion a été interrompue. Veuillez réessayer.",
  "The answer could not be read. Please try again.": "La réponse n’a pas pu être lue. Veuillez réessayer.",
  "We couldn't sign you in with this account. Try another way, or contact us.":
    "Nous n’avons pas pu vous connecter avec ce compte. Connectez-vous autrement ou contactez-nous.",
  "Wrong e-mail or password.": "L’adresse e-mail ou le mot de passe est incorrect.",
  "This e-mail already has an account.": "Il existe déjà un compte avec cette adresse e-mail.",
  "Something went wrong on our side. Please try again.":
    "Un problème est survenu de notre côté. Veuillez réessayer.",
  "You sign in with your other account, so you have no password here.":
    "Vous vous connectez avec votre autre compte : il n’y a donc pas de mot de passe à définir ici.",
};
