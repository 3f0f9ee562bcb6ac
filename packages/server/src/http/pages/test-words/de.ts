import type { TestWords } from "./en.ts";

export const de: TestWords = {
  title: "Testanmeldung",
  passed: { heading: "Test bestanden", text: "Diese Person wäre jetzt angemeldet." },
  failed: { heading: "Test nicht bestanden" },
  marks: { passed: "bestanden", failed: "nicht bestanden" },
  answer: {
    heading: "Antwort des Anbieters",
    from: "Von",
    calls: {
      discovery: "Discovery-Dokument",
      authorize: "Autorisierungsendpunkt",
      token: "Token-Endpunkt",
      userinfo: "UserInfo-Endpunkt",
    },
    status: "HTTP-Status",
    fault: "Störung",
  },
  person: {
    email: "E-Mail-Adresse",
    verified: "{email} (vom Anbieter bestätigt)",
    unverified: "{email} (vom Anbieter nicht bestätigt)",
    name: "Name",
    subject: "Kennung (sub)",
  },
  requirements: {
    heading: "Anforderungen, die nur eine Anmeldung prüfen kann",
    confirmed: "Durch diese Anmeldung bestätigt.",
    notReached: "Diese Anmeldung endete, bevor das geprüft werden konnte.",
  },
  checks: {
    heading: "Prüfungen",
    expected: "Erwartet",
    found: "Gefunden",
    asExpected: "Wie erwartet",
    notAsExpected: "Nicht wie erwartet",
  },
  time: {
    heading: "Dauer",
    steps: {
      discovery: "Discovery-Dokument",
      wait: "Warteschlange",
      token: "Token-Endpunkt",
      identify: "Schlüssel, ID-Token, UserInfo",
    },
  },
  nothingCreated: "Es wurde kein Kundenkonto, kein Code und kein Token angelegt.",
};
