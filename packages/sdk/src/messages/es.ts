import type { Sentence } from "../shopper-messages.ts";

export const es: Record<Sentence, string> = {
  "We couldn't sign you in. Trying again won't help. Try another way, or contact us.":
    "No hemos podido iniciar su sesión. Intentarlo de nuevo no servirá de nada. Pruebe otra forma de iniciar sesión o póngase en contacto con nosotros.",
  "This sign-in has ended. Please start again.":
    "Este inicio de sesión ha terminado. Empiece de nuevo, por favor.",
  "Please sign in to continue.": "Inicie sesión para continuar, por favor.",
  "This way to sign in does not work right now. Please try again soon, or choose another.":
    "Esta forma de iniciar sesión no funciona en este momento. Inténtelo de nuevo dentro de poco o elija otra.",
  "We are very busy right now. Please try again in a moment.":
    "Estamos recibiendo muchas solicitudes. Inténtelo de nuevo dentro de un momento, por favor.",
  "You were not signed in. You can try again, or choose another way.":
    "No se ha iniciado su sesión. Puede intentarlo de nuevo o elegir otra forma.",
  "This sign-in was used already. If you are not signed in, please start again.":
    "Este inicio de sesión ya se ha utilizado. Si su sesión no está iniciada, empiece de nuevo, por favor.",
  "Too many tries. Please wait a little.": "Demasiados intentos. Espere un poco, por favor.",
  "This sign-in has ended or was started in another browser. Please start again.":
    "Este inicio de sesión ha terminado o se empezó en otro navegador. Empiece de nuevo, por favor.",
  "We couldn't verify your sign-in. Please start again.":
    "No hemos podido verificar su inicio de sesión. Empiece de nuevo, por favor.",
  "The connection broke off. Please try again.":
    "La conexión se ha interrumpido. Inténtelo de nuevo, por favor.",
  "The answer could not be read. Please try again.":
    "No se ha podido leer la respuesta. Inténtelo de nuevo, por favor.",
  "We couldn't sign you in with this account. Try another way, or contact us.":
    "No hemos podido iniciar su sesión con esta cuenta. Pruebe otra forma o póngase en contacto con nosotros.",
  "Wrong e-mail or password.": "El correo electrónico o la contraseña no son correctos.",
  "This e-mail already has an account.": "Ya existe una cuenta con este correo electrónico.",
  "Something went wrong on our side. Please try again.":
    "Se ha producido un error por nuestra parte. Inténtelo de nuevo, por favor.",
  "You sign in with your other account, so you have no password here.":
    "Usted inicia sesión con su otra cuenta, así que aquí no puede definir una contraseña.",
};
