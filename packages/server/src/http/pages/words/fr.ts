import type { PageWords } from "./page-words.ts";

export const fr: PageWords = {
  backTo: "Retour à {shop}",
  backToShop: "Retour à la boutique",
  reference: "Référence",
  request: "Requête",
  forDevelopers: "Pour les développeurs de la boutique",
  again: {
    heading: "Veuillez vous connecter à nouveau",
    foreign: {
      text: "Cette adresse ne correspond à aucune connexion en cours.",
      remedy: "Réessayer suffit : retournez à la boutique et connectez-vous à partir de là.",
    },
    late: {
      text: "Cette connexion a duré plus de dix minutes ; nous y avons donc mis fin.",
      remedy: "Réessayer suffit : retournez à la boutique et connectez-vous à partir de là.",
    },
    otherBrowser: {
      text: "Cette connexion a commencé dans un autre navigateur, ou ce navigateur n’enregistre pas les cookies.",
      remedy:
        "Réessayer suffit si vous commencez et terminez dans le même navigateur, en autorisant les cookies : retournez à la boutique et connectez-vous à partir de là.",
    },
  },
  later: {
    heading: "Veuillez réessayer dans un instant",
    busy: {
      text: "Trop de requêtes proviennent de votre réseau en ce moment.",
      remedy: "Réessayer suffit : patientez une minute, puis rechargez cette page.",
    },
    down: {
      text: "Un problème est survenu de notre côté. Vous n’y êtes pour rien, et rien n’a été perdu.",
      remedy: "Réessayer suffit en général : patientez une minute, puis rechargez cette page.",
    },
  },
  shop: {
    heading: "Impossible de continuer",
    text: "La boutique nous a transmis une demande que nous ne pouvons pas traiter.",
    remedy:
      "Réessayer ne sert à rien. Veuillez prévenir la boutique et lui transmettre les informations ci-dessous.",
  },
  members: {
    again: "Réessayer suffit : retournez à la console et connectez-vous à partir de là.",
    otherBrowser:
      "Réessayer suffit si vous commencez et terminez dans le même navigateur, en autorisant les cookies : retournez à la console et connectez-vous à partir de là.",
    refused: {
      text: "La console nous a transmis une demande que nous ne pouvons pas traiter.",
      remedy:
        "Réessayer ne sert à rien. Veuillez prévenir les personnes qui exploitent ce service et leur transmettre les informations ci-dessous.",
    },
    forOperators: "Pour les personnes qui exploitent ce service",
  },
  signedOut: { heading: "Votre session est fermée", text: "Vous pouvez fermer cette page." },
  signedOutHere: {
    heading: "Votre session est fermée",
    text: "La boutique voulait vous diriger vers une page qu’elle n’a pas enregistrée chez nous.",
    remedy:
      "Vous n’avez plus rien à faire : vous pouvez fermer cette page ou retourner vous-même à la boutique.",
  },
  notSignedOut: {
    heading: "Votre session est toujours ouverte",
    text: "Nous n’avons pas pu déterminer quelle session fermer ; nous n’en avons donc fermé aucune.",
    remedy: "Réessayer ici ne sert à rien : retournez à la boutique et déconnectez-vous là-bas.",
  },
  signOut: {
    heading: "Se déconnecter de {shop} ?",
    headingWithoutName: "Se déconnecter ?",
    text: "Les connexions commencées dans ce navigateur et non terminées seront annulées. Votre session à la boutique restera ouverte : si la boutique indique que vous êtes connecté, déconnectez-vous là-bas.",
    yes: "Oui, me déconnecter",
  },
  signInsEnded: {
    heading: "Les connexions de ce navigateur sont annulées",
    text: "Les connexions commencées dans ce navigateur et non terminées sont annulées. Si la boutique indique encore que vous êtes connecté, déconnectez-vous là-bas.",
  },
  testOver: {
    heading: "Ce test est terminé",
    text: "Le lien d’une connexion de test fonctionne une seule fois, pendant dix minutes.",
    remedy: "Réessayer ne sert à rien : lancez un nouveau test dans la console.",
  },
  choice: { heading: "Comment souhaitez-vous vous connecter ?", down: "Ne répond pas pour le moment" },
  front: {
    text: "Voici Latchkey, le service qui permet aux clients de se connecter aux boutiques en ligne.",
    lost: "Si vous vouliez vous connecter, veuillez retourner à votre boutique et commencer là-bas.",
    console: { name: "Console", text: "pour les équipes d’une boutique" },
    reference: { name: "Référence de l’API", text: "pour les développeurs" },
    openapi: { name: "Document OpenAPI", text: "pour les programmes" },
    health: { name: "État", text: "si le service peut répondre" },
  },
};
