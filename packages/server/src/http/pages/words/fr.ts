import type { PageWords } from "./en.ts";

export const fr: PageWords = {
  backTo: "Retour à {shop}",
  backToShop: "Retour à la boutique",
  reference: "Référence",
  request: "Numéro de requête",
  forDevelopers: "Pour les développeurs de la boutique",
  again: {
    heading: "Veuillez vous reconnecter",
    foreign: {
      text: "Ce lien ne correspond à aucune connexion en cours.",
      remedy: "Retournez à la boutique et connectez-vous à nouveau.",
    },
    late: {
      text: "Cette connexion a expiré. Une connexion peut durer dix minutes au plus.",
      remedy: "Retournez à la boutique et connectez-vous à nouveau.",
    },
    otherBrowser: {
      text: "Cette connexion a été commencée dans un autre navigateur, ou ce navigateur bloque les cookies.",
      remedy:
        "Autorisez les cookies, retournez à la boutique et connectez-vous à nouveau. Restez dans le même navigateur jusqu’à la fin.",
    },
  },
  later: {
    heading: "Veuillez réessayer dans une minute",
    busy: {
      text: "Nous recevons trop de requêtes de votre réseau.",
      remedy: "Patientez une minute, puis rechargez cette page.",
    },
    down: {
      text: "Un problème est survenu de notre côté. Vous n’y êtes pour rien, et rien n’a été perdu.",
      remedy: "Patientez une minute, puis rechargez cette page. En général, cela suffit.",
    },
  },
  shop: {
    heading: "Impossible de continuer",
    text: "La boutique a envoyé une demande que nous ne pouvons pas traiter.",
    remedy:
      "Réessayer ne changera rien. Veuillez contacter la boutique et lui communiquer les informations ci-dessous.",
  },
  members: {
    again: "Retournez à la console et connectez-vous à nouveau.",
    otherBrowser:
      "Autorisez les cookies, retournez à la console et connectez-vous à nouveau. Restez dans le même navigateur jusqu’à la fin.",
    refused: {
      text: "La console a envoyé une demande que nous ne pouvons pas traiter.",
      remedy:
        "Réessayer ne changera rien. Veuillez contacter l’exploitant de ce service et lui communiquer les informations ci-dessous.",
    },
    forOperators: "Pour l’exploitant de ce service",
  },
  signedOut: { heading: "Votre session est fermée", text: "Vous pouvez fermer cette page." },
  signedOutHere: {
    heading: "Votre session est fermée",
    text: "La boutique nous a demandé de vous diriger vers une page qui n’est pas enregistrée chez nous. La redirection s’arrête donc ici.",
    remedy: "Vous n’avez rien d’autre à faire. Fermez cette page ou retournez à la boutique.",
  },
  notSignedOut: {
    heading: "Votre session est toujours ouverte",
    text: "Nous n’avons pas trouvé la session à fermer. Aucune session n’a donc été fermée.",
    remedy: "Réessayer ici ne changera rien. Retournez à la boutique et déconnectez-vous sur son site.",
  },
  signOut: {
    heading: "Se déconnecter de {shop} ?",
    headingWithoutName: "Se déconnecter ?",
    text: "Les connexions commencées dans ce navigateur et non terminées seront annulées. Votre session à la boutique restera ouverte : si la boutique affiche encore une session ouverte, déconnectez-vous sur son site.",
    yes: "Oui, me déconnecter",
  },
  signInsEnded: {
    heading: "Les connexions en cours ont été annulées",
    text: "Les connexions commencées dans ce navigateur et non terminées ont été annulées. Si la boutique affiche encore une session ouverte, déconnectez-vous sur son site.",
  },
  testOver: {
    heading: "Ce lien de test n’est plus valable",
    text: "Un lien de test fonctionne une seule fois et expire au bout de dix minutes.",
    remedy: "Lancez un nouveau test dans la console.",
  },
  choice: { heading: "Comment souhaitez-vous vous connecter ?", down: "Ne répond pas pour le moment" },
  front: {
    text: "Voici Latchkey. Les boutiques en ligne l’utilisent pour connecter leurs clients.",
    lost: "Si vous souhaitez vous connecter, retournez à votre boutique et commencez là-bas.",
    console: { name: "Console", text: "pour l’équipe d’une boutique" },
    reference: { name: "Référence de l’API", text: "pour les développeurs" },
    openapi: { name: "Document OpenAPI", text: "pour les programmes" },
    health: { name: "État", text: "si le service est prêt" },
  },
};
