import type { PageWords } from "./page-words.ts";

export const es: PageWords = {
  backTo: "Volver a {shop}",
  backToShop: "Volver a la tienda",
  reference: "Referencia",
  request: "Solicitud",
  forDevelopers: "Para los desarrolladores de la tienda",
  again: {
    heading: "Inicie sesión de nuevo, por favor",
    foreign: {
      text: "Esta dirección no corresponde a ningún inicio de sesión en curso.",
      remedy: "Se soluciona intentándolo de nuevo: vuelva a la tienda e inicie sesión desde allí.",
    },
    late: {
      text: "Este inicio de sesión ha tardado más de diez minutos y por eso lo hemos cancelado.",
      remedy: "Se soluciona intentándolo de nuevo: vuelva a la tienda e inicie sesión desde allí.",
    },
    otherBrowser: {
      text: "Este inicio de sesión empezó en otro navegador, o este navegador no guarda cookies.",
      remedy:
        "Se soluciona intentándolo de nuevo si empieza y termina en el mismo navegador y permite las cookies: vuelva a la tienda e inicie sesión desde allí.",
    },
  },
  later: {
    heading: "Inténtelo de nuevo en un momento, por favor",
    busy: {
      text: "En este momento llegan demasiadas solicitudes desde su red.",
      remedy: "Se soluciona intentándolo de nuevo: espere un minuto y vuelva a cargar esta página.",
    },
    down: {
      text: "En este momento algo no funciona por nuestra parte. No es culpa suya y no se ha perdido nada.",
      remedy: "Suele solucionarse intentándolo de nuevo: espere un minuto y vuelva a cargar esta página.",
    },
  },
  shop: {
    heading: "No podemos continuar",
    text: "La tienda nos ha enviado una solicitud que no podemos procesar.",
    remedy:
      "Intentarlo de nuevo no lo soluciona. Avise a la tienda, por favor, y facilítele los datos que aparecen abajo.",
  },
  members: {
    again: "Se soluciona intentándolo de nuevo: vuelva a la consola e inicie sesión desde allí.",
    otherBrowser:
      "Se soluciona intentándolo de nuevo si empieza y termina en el mismo navegador y permite las cookies: vuelva a la consola e inicie sesión desde allí.",
    refused: {
      text: "La consola nos ha enviado una solicitud que no podemos procesar.",
      remedy:
        "Intentarlo de nuevo no lo soluciona. Avise, por favor, a quien administra este servicio y facilítele los datos que aparecen abajo.",
    },
    forOperators: "Para quien administra este servicio",
  },
  signedOut: { heading: "Ha cerrado la sesión", text: "Puede cerrar esta página." },
  signedOutHere: {
    heading: "Ha cerrado la sesión",
    text: "La tienda quería dirigirle a una página que no tiene registrada con nosotros.",
    remedy: "No tiene que hacer nada más: puede cerrar esta página o volver usted a la tienda.",
  },
  notSignedOut: {
    heading: "Su sesión sigue abierta",
    text: "No hemos podido saber qué sesión debía cerrarse, así que no hemos cerrado ninguna.",
    remedy: "Intentarlo de nuevo aquí no lo soluciona: vuelva a la tienda y cierre la sesión allí.",
  },
  signOut: {
    heading: "¿Cerrar sesión en {shop}?",
    headingWithoutName: "¿Cerrar sesión?",
    text: "Se cancelarán los inicios de sesión que este navegador ha empezado y no ha terminado. Su sesión en la tienda seguirá abierta: si la tienda indica que ha iniciado sesión, ciérrela allí.",
    yes: "Sí, cerrar sesión",
  },
  signInsEnded: {
    heading: "Los inicios de sesión de este navegador se han cancelado",
    text: "Se han cancelado los inicios de sesión que este navegador había empezado y no había terminado. Si la tienda todavía indica que ha iniciado sesión, ciérrela allí.",
  },
  testOver: {
    heading: "Esta prueba ha terminado",
    text: "El enlace de un inicio de sesión de prueba funciona una sola vez y durante diez minutos.",
    remedy: "Intentarlo de nuevo no lo soluciona: empiece otra prueba en la consola.",
  },
  choice: { heading: "¿Cómo desea iniciar sesión?", down: "No responde en este momento" },
  front: {
    text: "Esto es Latchkey, el servicio con el que los clientes inician sesión en tiendas en línea.",
    lost: "Si quería iniciar sesión, vuelva a su tienda y empiece allí, por favor.",
    console: { name: "Consola", text: "para el equipo de una tienda" },
    reference: { name: "Referencia de la API", text: "para desarrolladores" },
    openapi: { name: "Documento OpenAPI", text: "para programas" },
    health: { name: "Estado", text: "si el servicio puede responder" },
  },
};
