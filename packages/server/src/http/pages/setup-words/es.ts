import type { SetupWords } from "./en.ts";

export const es: SetupWords = {
  heading: "Registre {shop} en su proveedor de identidad",
  text: "{shop} quiere que se pueda iniciar sesión a través de su proveedor de identidad. Registre allí {shop} como cliente de OpenID Connect, con los valores de esta página.",
  realm: "Área de la tienda",
  provider: "Nombre de su proveedor en la tienda",
  validUntil: "Este enlace funciona hasta: {time}.",
  values: {
    heading: "Qué debe registrar",
    redirectUri: "URI de redirección",
    redirectUris: "URI de redirección",
    exactly: "Exactamente así, sin comodines.",
    logoutUri: "URI de cierre de sesión back-channel",
    logoutHint:
      "Si su proveedor lo admite: una sesión que termina en su proveedor termina entonces también en la tienda.",
    signedOutUri: "URI de redirección tras cerrar sesión",
    flow: "Flujo",
    authentication: "Autenticación del cliente",
    scopes: "Scopes",
    scopesHint: "Permita también {scope}: las tiendas suelen pedir el nombre de la persona.",
    claims: "Claims",
    claimsHint: "Útiles, pero no obligatorios: {claims}.",
    clientId: "ID de cliente",
    clientIdHint:
      "Como lo ha introducido la tienda. Si asigna otro ID al cliente, comuníqueselo a la tienda.",
    document: "Documento de descubrimiento",
    secret:
      "Envíe a la tienda el ID y el secreto del cliente por una vía segura. Esta página no puede recibir secretos.",
  },
  checks: {
    heading: "Requisitos",
    text: "El inicio de sesión funciona cuando su proveedor los cumple todos.",
    never: "Aún sin comprobar.",
    checkedAt: "Comprobado: {time}.",
    checkNow: "Comprobar ahora",
    checkAgain: "Comprobar de nuevo",
    nextAt: "La próxima comprobación es posible a partir de: {time}.",
    status: { met: "cumplido", not_met: "no cumplido", unknown: "aún no se sabe" },
    notRead: "Se verá en cuanto se pueda leer el documento de descubrimiento.",
    atFirstSignIn: "Se verá en el primer inicio de sesión.",
    details: "Detalles",
  },
  requirements: {
    R1: {
      what: "Es compatible con OpenID Connect.",
      remedy:
        "Publique un documento de descubrimiento completo y una clave pública de firma. Firme los tokens de ID con RS256, PS256, ES256 o EdDSA.",
    },
    R2: {
      what: "Acepta la autenticación del cliente `client_secret_basic`.",
      remedy: "Permita `client_secret_basic` para este cliente.",
    },
    R3: {
      what: "Permite el Authorization Code Flow.",
      remedy:
        "Permita el tipo de respuesta `code` y el tipo de concesión `authorization_code` para este cliente. No exija solicitudes de autorización enviadas (PAR) ni firmadas.",
    },
    R4: {
      what: "Admite el scope `email` y devuelve una dirección de correo de cada persona.",
      remedy:
        "Permita el scope `email` para este cliente. Cada persona necesita una dirección de correo, que debe estar en el token de ID o en la respuesta de UserInfo.",
    },
    R5: {
      what: "Publica un documento de descubrimiento.",
      remedy: "El documento de descubrimiento debe ser público: https, estado 200, JSON.",
    },
    R6: {
      what: "No cifra ni el token de ID ni la respuesta de UserInfo.",
      remedy: "Desactive el cifrado del token de ID y de UserInfo para este cliente.",
    },
    R7: {
      what: "La audiencia (`aud`) del token de ID es solo el ID de este cliente.",
      remedy: "Quite todas las demás audiencias del token de ID.",
    },
    R8: {
      what: "No exige `nonce` ni `acr_values` en la solicitud.",
      remedy: "No exija `acr_values` para este cliente.",
      unknown: "No tiene que hacer nada: cada solicitud lleva un `nonce`.",
    },
    R9: {
      what: "No depende de que se compruebe `auth_time`.",
      remedy: "No dependa de la comprobación de `auth_time` para este cliente.",
    },
  },
  places: {
    heading: "Dónde están los ajustes en {provider}",
    callback: "URI de redirección",
    secret: "Secreto del cliente",
    method: "Autenticación del cliente",
    code_flow: "Flujo",
    email: "Dirección de correo",
    encryption: "Cifrado",
    audience: "Audiencia",
    signing: "Firma",
    logout: "Cierre de sesión",
  },
  over: {
    heading: "Este enlace no funciona",
    text: "Ha caducado, la tienda lo ha anulado o la dirección está incompleta.",
    remedy: "Compruebe si ha abierto la dirección completa. Si es así, pida a la tienda un enlace nuevo.",
  },
};
