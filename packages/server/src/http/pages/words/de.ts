import type { PageWords } from "./en.ts";

export const de: PageWords = {
  backTo: "Zurück zu {shop}",
  backToShop: "Zurück zum Shop",
  reference: "Vorgangsnummer",
  request: "Anfragenummer",
  forDevelopers: "Für die Entwickler des Shops",
  again: {
    heading: "Bitte melden Sie sich erneut an",
    foreign: {
      text: "Dieser Link gehört zu keiner laufenden Anmeldung.",
      remedy: "Gehen Sie zurück zum Shop und melden Sie sich dort erneut an.",
    },
    late: {
      text: "Die Anmeldung ist abgelaufen. Eine Anmeldung darf höchstens zehn Minuten dauern.",
      remedy: "Gehen Sie zurück zum Shop und melden Sie sich dort erneut an.",
    },
    otherBrowser: {
      text: "Die Anmeldung wurde in einem anderen Browser begonnen, oder dieser Browser blockiert Cookies.",
      remedy:
        "Lassen Sie Cookies zu, gehen Sie zurück zum Shop und melden Sie sich dort erneut an. Bleiben Sie dabei im selben Browser.",
    },
  },
  later: {
    heading: "Bitte versuchen Sie es in einer Minute noch einmal",
    busy: {
      text: "Aus Ihrem Netzwerk kommen gerade zu viele Anfragen.",
      remedy: "Warten Sie eine Minute und laden Sie diese Seite dann neu.",
    },
    down: {
      text: "Bei uns ist ein Fehler aufgetreten. Es liegt nicht an Ihnen, und es ist nichts verloren gegangen.",
      remedy: "Warten Sie eine Minute und laden Sie diese Seite dann neu. Das hilft meistens.",
    },
  },
  shop: {
    heading: "Hier geht es leider nicht weiter",
    text: "Der Shop hat eine Anfrage gesendet, die wir nicht verarbeiten können.",
    remedy:
      "Ein neuer Versuch hilft nicht. Bitte wenden Sie sich an den Shop und geben Sie die Angaben unten an.",
  },
  members: {
    again: "Gehen Sie zurück zur Konsole und melden Sie sich dort erneut an.",
    otherBrowser:
      "Lassen Sie Cookies zu, gehen Sie zurück zur Konsole und melden Sie sich dort erneut an. Bleiben Sie dabei im selben Browser.",
    refused: {
      text: "Die Konsole hat eine Anfrage gesendet, die wir nicht verarbeiten können.",
      remedy:
        "Ein neuer Versuch hilft nicht. Bitte wenden Sie sich an den Betreiber dieses Dienstes und geben Sie die Angaben unten an.",
    },
    forOperators: "Für den Betreiber dieses Dienstes",
  },
  signedOut: { heading: "Sie sind abgemeldet", text: "Sie können diese Seite schließen." },
  signedOutHere: {
    heading: "Sie sind abgemeldet",
    text: "Der Shop wollte Sie auf eine Seite weiterleiten, die bei uns nicht eingetragen ist. Deshalb endet die Weiterleitung hier.",
    remedy: "Sie brauchen nichts weiter zu tun. Schließen Sie diese Seite oder gehen Sie zurück zum Shop.",
  },
  notSignedOut: {
    heading: "Sie sind noch angemeldet",
    text: "Wir konnten die Sitzung, die enden soll, nicht finden. Deshalb wurde keine Sitzung beendet.",
    remedy: "Ein neuer Versuch hilft hier nicht. Gehen Sie zurück zum Shop und melden Sie sich dort ab.",
  },
  signOut: {
    heading: "Bei {shop} abmelden?",
    headingWithoutName: "Abmelden?",
    text: "Damit brechen Sie alle Anmeldungen ab, die Sie in diesem Browser begonnen und nicht abgeschlossen haben. Ihre Sitzung im Shop endet dadurch nicht: Wenn der Shop Sie noch als angemeldet anzeigt, melden Sie sich dort ab.",
    yes: "Ja, abmelden",
  },
  signInsEnded: {
    heading: "Offene Anmeldungen wurden abgebrochen",
    text: "Alle Anmeldungen, die Sie in diesem Browser begonnen und nicht abgeschlossen haben, wurden abgebrochen. Wenn der Shop Sie noch als angemeldet anzeigt, melden Sie sich dort ab.",
  },
  testOver: {
    heading: "Dieser Testlink ist nicht mehr gültig",
    text: "Ein Testlink funktioniert nur einmal und läuft nach zehn Minuten ab.",
    remedy: "Starten Sie in der Konsole einen neuen Test.",
  },
  choice: { heading: "Wie möchten Sie sich anmelden?", down: "Antwortet derzeit nicht" },
  front: {
    text: "Das ist Latchkey. Damit melden Onlineshops ihre Kundinnen und Kunden an.",
    lost: "Wenn Sie sich anmelden möchten, gehen Sie zurück zu Ihrem Shop und beginnen Sie dort.",
    console: { name: "Konsole", text: "für das Team eines Shops" },
    reference: { name: "API-Referenz", text: "für die Entwicklung" },
    openapi: { name: "OpenAPI-Dokument", text: "für Programme" },
    health: { name: "Status", text: "ob der Dienst bereit ist" },
  },
};
