import type { PageWords } from "./en.ts";

export const es: PageWords = {
  backTo: "Volver a {shop}",
  backToShop: "Volver a la tienda",
  reference: "Referencia",
  request: "Número de solicitud",
  forDevelopers: "Para los desarrolladores de la tienda",
  again: {
    heading: "Inicie sesión de nuevo, por favor",
    foreign: {
      text: "Este enlace no corresponde a ningún inicio de sesión en curso.",
      remedy: "Vuelva a la tienda e inicie sesión de nuevo.",
    },
    late: {
      text: "Este inicio de sesión ha caducado. Un inicio de sesión puede durar diez minutos como máximo.",
      remedy: "Vuelva a la tienda e inicie sesión de nuevo.",
    },
    otherBrowser: {
      text: "Este inicio de sesión se empezó en otro navegador, o este navegador bloquea las cookies.",
      remedy:
        "Permita las cookies, vuelva a la tienda e inicie sesión de nuevo. Use el mismo navegador de principio a fin.",
    },
  },
  later: {
    heading: "Inténtelo de nuevo en un minuto, por favor",
    busy: {
      text: "Estamos recibiendo demasiadas solicitudes desde su red.",
      remedy: "Espere un minuto y vuelva a cargar esta página.",
    },
    down: {
      text: "Se ha producido un error por nuestra parte. No es culpa suya y no se ha perdido nada.",
      remedy: "Espere un minuto y vuelva a cargar esta página. Suele ser suficiente.",
    },
  },
  shop: {
    heading: "No podemos continuar",
    text: "La tienda ha enviado una solicitud que no podemos procesar.",
    remedy:
      "Intentarlo de nuevo no servirá de nada. Póngase en contacto con la tienda e indique los datos que aparecen abajo.",
  },
  members: {
    again: "Vuelva a la consola e inicie sesión de nuevo.",
    otherBrowser:
      "Permita las cookies, vuelva a la consola e inicie sesión de nuevo. Use el mismo navegador de principio a fin.",
    refused: {
      text: "La consola ha enviado una solicitud que no podemos procesar.",
      remedy:
        "Intentarlo de nuevo no servirá de nada. Póngase en contacto con el administrador de este servicio e indique los datos que aparecen abajo.",
    },
    forOperators: "Para el administrador de este servicio",
  },
  signedOut: { heading: "Ha cerrado la sesión", text: "Puede cerrar esta página." },
  signedOutHere: {
    heading: "Ha cerrado la sesión",
    text: "La tienda quería dirigirle a una página que no está registrada con nosotros, así que la redirección termina aquí.",
    remedy: "No tiene que hacer nada más. Cierre esta página o vuelva a la tienda.",
  },
  notSignedOut: {
    heading: "Su sesión sigue abierta",
    text: "No hemos encontrado la sesión que debía cerrarse, así que no se ha cerrado ninguna.",
    remedy: "Intentarlo de nuevo aquí no servirá de nada. Vuelva a la tienda y cierre la sesión allí.",
  },
  signOut: {
    heading: "¿Cerrar sesión en {shop}?",
    headingWithoutName: "¿Cerrar sesión?",
    text: "Se cancelarán los inicios de sesión que se empezaron en este navegador y no se terminaron. Su sesión en la tienda seguirá abierta: si la tienda todavía muestra su sesión iniciada, ciérrela allí.",
    yes: "Sí, cerrar sesión",
  },
  signInsEnded: {
    heading: "Se han cancelado los inicios de sesión pendientes",
    text: "Se han cancelado los inicios de sesión que se empezaron en este navegador y no se terminaron. Si la tienda todavía muestra su sesión iniciada, ciérrela allí.",
  },
  testOver: {
    heading: "Este enlace de prueba ya no es válido",
    text: "Un enlace de prueba funciona una sola vez y caduca a los diez minutos.",
    remedy: "Inicie una prueba nueva en la consola.",
  },
  choice: { heading: "¿Cómo desea iniciar sesión?", down: "No responde en este momento" },
  front: {
    text: "Esto es Latchkey. Las tiendas en línea lo usan para que sus clientes inicien sesión.",
    lost: "Si desea iniciar sesión, vuelva a su tienda y empiece allí.",
    console: { name: "Consola", text: "para el equipo de una tienda" },
    reference: { name: "Referencia de la API", text: "para desarrolladores" },
    openapi: { name: "Documento OpenAPI", text: "para programas" },
    health: { name: "Estado", text: "si el servicio está listo" },
  },
};
