import type { TestWords } from "./en.ts";

export const es: TestWords = {
  title: "Inicio de sesión de prueba",
  passed: { heading: "Prueba superada", text: "Esta persona tendría ahora la sesión iniciada." },
  failed: { heading: "Prueba no superada" },
  marks: { passed: "correcto", failed: "incorrecto" },
  answer: {
    heading: "Respuesta del proveedor",
    from: "Origen",
    calls: {
      discovery: "documento de descubrimiento",
      authorize: "endpoint de autorización",
      token: "endpoint de tokens",
      userinfo: "endpoint de UserInfo",
    },
    status: "Estado HTTP",
    fault: "Fallo",
  },
  person: {
    email: "Dirección de correo",
    verified: "{email} (verificada por el proveedor)",
    unverified: "{email} (no verificada por el proveedor)",
    name: "Nombre",
    subject: "Identificador (sub)",
  },
  requirements: {
    heading: "Requisitos que solo un inicio de sesión puede comprobar",
    confirmed: "Confirmado por este inicio de sesión.",
    notReached: "Este inicio de sesión terminó antes de esta comprobación.",
  },
  checks: {
    heading: "Comprobaciones",
    expected: "Esperado",
    found: "Recibido",
    asExpected: "Según lo esperado",
    notAsExpected: "Distinto de lo esperado",
  },
  time: {
    heading: "Duración",
    steps: {
      discovery: "Documento de descubrimiento",
      wait: "Cola de espera",
      token: "Endpoint de tokens",
      identify: "Claves, token de ID, UserInfo",
    },
  },
  nothingCreated: "No se ha creado ninguna cuenta de cliente, ningún código ni ningún token.",
};
