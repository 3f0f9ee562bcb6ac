import type { SetupWords } from "./en.ts";

export const fr: SetupWords = {
  heading: "Enregistrer {shop} auprès de votre fournisseur d’identité",
  text: "{shop} souhaite que l’on puisse s’y connecter avec votre fournisseur d’identité. Enregistrez-y {shop} comme client OpenID Connect, avec les valeurs de cette page.",
  realm: "Espace de la boutique",
  provider: "Nom de votre fournisseur dans la boutique",
  validUntil: "Ce lien est valable jusqu’au {time}.",
  values: {
    heading: "Ce qu’il faut enregistrer",
    redirectUri: "URI de redirection",
    redirectUris: "URI de redirection",
    exactly: "Exactement ainsi, sans caractère générique.",
    logoutUri: "URI de déconnexion back-channel",
    logoutHint:
      "Si votre fournisseur le permet : une session qui se termine chez lui se termine alors aussi dans la boutique.",
    signedOutUri: "URI de redirection après déconnexion",
    flow: "Flux",
    authentication: "Authentification du client",
    scopes: "Scopes",
    scopesHint: "Autorisez aussi {scope} : les boutiques demandent souvent le nom de la personne.",
    claims: "Claims",
    claimsHint: "Utiles, mais pas obligatoires : {claims}.",
    clientId: "ID client",
    clientIdHint:
      "Tel que la boutique l’a saisi. Si vous donnez un autre ID au client, communiquez-le à la boutique.",
    document: "Document de découverte",
    secret:
      "Transmettez l’ID client et le secret du client à la boutique par un moyen sûr. Cette page ne peut pas recevoir de secret.",
  },
  checks: {
    heading: "Exigences",
    text: "La connexion fonctionne lorsque votre fournisseur les remplit toutes.",
    never: "Pas encore vérifié.",
    checkedAt: "Vérifié : {time}.",
    checkNow: "Vérifier maintenant",
    checkAgain: "Vérifier à nouveau",
    nextAt: "La prochaine vérification est possible à partir de : {time}.",
    status: { met: "remplie", not_met: "non remplie", unknown: "pas encore connue" },
    notRead: "On le saura dès que le document de découverte pourra être lu.",
    atFirstSignIn: "La première connexion le montrera.",
    details: "Détails",
  },
  requirements: {
    R1: {
      what: "Il est compatible avec OpenID Connect.",
      remedy:
        "Publiez un document de découverte complet et une clé publique de signature. Signez les jetons d’identité avec RS256, PS256, ES256 ou EdDSA.",
    },
    R2: {
      what: "Il accepte l’authentification du client `client_secret_basic`.",
      remedy: "Autorisez `client_secret_basic` pour ce client.",
    },
    R3: {
      what: "Il autorise l’Authorization Code Flow.",
      remedy:
        "Autorisez le type de réponse `code` et le type d’octroi `authorization_code` pour ce client. N’exigez ni requêtes d’autorisation poussées (PAR) ni requêtes signées.",
    },
    R4: {
      what: "Il prend en charge le scope `email` et fournit une adresse e-mail pour chaque personne.",
      remedy:
        "Autorisez le scope `email` pour ce client. Chaque personne doit avoir une adresse e-mail, présente dans le jeton d’identité ou dans la réponse UserInfo.",
    },
    R5: {
      what: "Il publie un document de découverte.",
      remedy: "Le document de découverte doit être public : https, statut 200, JSON.",
    },
    R6: {
      what: "Il ne chiffre ni le jeton d’identité ni la réponse UserInfo.",
      remedy: "Désactivez le chiffrement du jeton d’identité et de UserInfo pour ce client.",
    },
    R7: {
      what: "L’audience (`aud`) du jeton d’identité est uniquement l’ID de ce client.",
      remedy: "Retirez toutes les autres audiences du jeton d’identité.",
    },
    R8: {
      what: "Il n’exige ni `nonce` ni `acr_values` dans la requête.",
      remedy: "N’exigez pas `acr_values` pour ce client.",
      unknown: "Vous n’avez rien à faire : un `nonce` est envoyé avec chaque requête.",
    },
    R9: {
      what: "Il ne compte pas sur la vérification de `auth_time`.",
      remedy: "Ne comptez pas sur la vérification de `auth_time` pour ce client.",
    },
  },
  places: {
    heading: "Où trouver les réglages dans {provider}",
    callback: "URI de redirection",
    secret: "Secret du client",
    method: "Authentification du client",
    code_flow: "Flux",
    email: "Adresse e-mail",
    encryption: "Chiffrement",
    audience: "Audience",
    signing: "Signature",
    logout: "Déconnexion",
  },
  over: {
    heading: "Ce lien ne fonctionne pas",
    text: "Il a expiré, la boutique l’a supprimé ou l’adresse est incomplète.",
    remedy:
      "Vérifiez que vous avez ouvert l’adresse entière. Si c’est le cas, demandez un nouveau lien à la boutique.",
  },
};
