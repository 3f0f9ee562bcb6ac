import type { TestWords } from "./en.ts";

export const fr: TestWords = {
  title: "Connexion de test",
  passed: { heading: "Test réussi", text: "Cette personne serait maintenant connectée." },
  failed: { heading: "Le test a échoué" },
  marks: { passed: "réussi", failed: "échoué" },
  answer: {
    heading: "Réponse du fournisseur",
    from: "Source",
    calls: {
      discovery: "document de découverte",
      authorize: "point de terminaison d’autorisation",
      token: "point de terminaison de jeton",
      userinfo: "point de terminaison UserInfo",
    },
    status: "Statut HTTP",
    fault: "Anomalie",
  },
  person: {
    email: "Adresse e-mail",
    verified: "{email} (vérifiée par le fournisseur)",
    unverified: "{email} (non vérifiée par le fournisseur)",
    name: "Nom",
    subject: "Identifiant (sub)",
  },
  requirements: {
    heading: "Exigences que seule une connexion permet de vérifier",
    confirmed: "Confirmée par cette connexion.",
    notReached: "Cette connexion s’est terminée avant cette vérification.",
  },
  checks: {
    heading: "Vérifications",
    expected: "Attendu",
    found: "Reçu",
    asExpected: "Conforme",
    notAsExpected: "Non conforme",
  },
  time: {
    heading: "Durée",
    steps: {
      discovery: "Document de découverte",
      wait: "File d’attente",
      token: "Point de terminaison de jeton",
      identify: "Clés, jeton d’identité, UserInfo",
    },
  },
  nothingCreated: "Aucun compte client, code ou jeton n’a été créé.",
};
