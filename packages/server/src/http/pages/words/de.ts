import type { PageWords } from "./page-words.ts";

export const de: PageWords = {
  backTo: "Zurück zu {shop}",
  backToShop: "Zurück zum Shop",
  reference: "Vorgangsnummer",
  request: "Anfragenummer",
  forDevelopers: "Für die Entwickler des Shops",
  again: {
    heading: "Bitte melden Sie sich noch einmal an",
    foreign: {
      text: "Diese Adresse gehört zu keiner laufenden Anmeldung.",
      remedy:
        "Ein neuer Versuch hilft: Gehen Sie zurück zum Shop und melden Sie sich von dort aus noch einmal an.",
    },
    late: {
      text: "Die Anmeldung hat länger als zehn Minuten gedauert und wurde deshalb beendet.",
      remedy:
        "Ein neuer Versuch hilft: Gehen Sie zurück zum Shop und melden Sie sich von dort aus noch einmal an.",
    },
    otherBrowser: {
      text: "Die Anmeldung hat in einem anderen Browser begonnen, oder dieser Browser speichert keine Cookies.",
      remedy:
        "Ein neuer Versuch hilft, wenn Sie Cookies zulassen und im selben Browser beginnen und abschließen: Gehen Sie zurück zum Shop und melden Sie sich von dort aus noch einmal an.",
    },
  },
  later: {
    heading: "Bitte versuchen Sie es gleich noch einmal",
    busy: {
      text: "Aus Ihrem Netzwerk kommen im Moment zu viele Anfragen.",
      remedy: "Ein neuer Versuch hilft: Warten Sie eine Minute und laden Sie diese Seite dann neu.",
    },
    down: {
      text: "Bei uns ist gerade etwas gestört. Es liegt nicht an Ihnen, und es ist nichts verloren gegangen.",
      remedy: "Ein neuer Versuch hilft meistens: Warten Sie eine Minute und laden Sie diese Seite dann neu.",
    },
  },
  shop: {
    heading: "Hier geht es leider nicht weiter",
    text: "Der Shop hat Sie mit einer Anfrage hierher geleitet, die wir nicht ausführen können.",
    remedy:
      "Ein neuer Versuch hilft nicht. Bitte wenden Sie sich an den Shop und nennen Sie ihm die Angaben unten.",
  },
  members: {
    again:
      "Ein neuer Versuch hilft: Gehen Sie zurück zur Konsole und melden Sie sich von dort aus noch einmal an.",
    otherBrowser:
      "Ein neuer Versuch hilft, wenn Sie Cookies zulassen und im selben Browser beginnen und abschließen: Gehen Sie zurück zur Konsole und melden Sie sich von dort aus noch einmal an.",
    refused: {
      text: "Die Konsole hat Sie mit einer Anfrage hierher geleitet, die wir nicht ausführen können.",
      remedy:
        "Ein neuer Versuch hilft nicht. Bitte wenden Sie sich an die Menschen, die diesen Dienst betreiben, und nennen Sie ihnen die Angaben unten.",
    },
    forOperators: "Für die Menschen, die diesen Dienst betreiben",
  },
  signedOut: { heading: "Sie sind abgemeldet", text: "Sie können diese Seite schließen." },
  signedOutHere: {
    heading: "Sie sind abgemeldet",
    text: "Der Shop wollte Sie auf eine Seite weiterleiten, die er bei uns nicht eingetragen hat.",
    remedy:
      "Sie brauchen nichts weiter zu tun: Sie können diese Seite schließen oder selbst zum Shop zurückgehen.",
  },
  notSignedOut: {
    heading: "Sie sind noch angemeldet",
    text: "Wir konnten nicht erkennen, welche Sitzung enden soll, und haben deshalb keine beendet.",
    remedy: "Ein neuer Versuch hilft hier nicht: Gehen Sie zurück zum Shop und melden Sie sich dort ab.",
  },
  signOut: {
    heading: "Bei {shop} abmelden?",
    headingWithoutName: "Abmelden?",
    text: "Damit enden Anmeldungen, die in diesem Browser begonnen und nicht abgeschlossen wurden. Eine Sitzung im Shop endet dadurch nicht: Wenn der Shop Sie als angemeldet zeigt, melden Sie sich dort ab.",
    yes: "Ja, abmelden",
  },
  signInsEnded: {
    heading: "Die Anmeldungen in diesem Browser sind beendet",
    text: "Anmeldungen, die in diesem Browser begonnen und nicht abgeschlossen wurden, sind beendet. Wenn der Shop Sie noch als angemeldet zeigt, melden Sie sich dort ab.",
  },
  testOver: {
    heading: "Dieser Test ist vorbei",
    text: "Der Link zu einer Testanmeldung gilt zehn Minuten lang und nur einmal.",
    remedy: "Ein neuer Versuch hilft nicht: Beginnen Sie in der Konsole einen neuen Test.",
  },
  choice: { heading: "Wie möchten Sie sich anmelden?", down: "Antwortet im Moment nicht" },
  front: {
    text: "Das ist Latchkey, der Dienst, mit dem sich Kundinnen und Kunden bei Onlineshops anmelden.",
    lost: "Wenn Sie sich anmelden möchten, gehen Sie bitte zurück zu Ihrem Shop und beginnen Sie dort.",
    console: { name: "Konsole", text: "für die Menschen hinter einem Shop" },
    reference: { name: "API-Referenz", text: "für die Entwicklung" },
    openapi: { name: "OpenAPI-Dokument", text: "für Programme" },
    health: { name: "Zustand", text: "ob der Dienst antworten kann" },
  },
};
