import type { SetupWords } from "./en.ts";

export const de: SetupWords = {
  heading: "{shop} bei Ihrem Identitätsanbieter registrieren",
  text: "{shop} möchte, dass man sich dort über Ihren Identitätsanbieter anmelden kann. Registrieren Sie {shop} dafür als OpenID-Connect-Client, mit den Angaben auf dieser Seite.",
  realm: "Bereich des Shops",
  provider: "Ihr Anbieter heißt im Shop",
  validUntil: "Dieser Link gilt bis {time}.",
  values: {
    heading: "Das tragen Sie ein",
    redirectUri: "Redirect-URI",
    redirectUris: "Redirect-URIs",
    exactly: "Genau so, ohne Platzhalter.",
    logoutUri: "Back-Channel-Logout-URI",
    logoutHint:
      "Falls Ihr Anbieter das unterstützt: Endet eine Sitzung bei Ihrem Anbieter, endet sie dann auch im Shop.",
    signedOutUri: "Post-Logout-Redirect-URI",
    flow: "Ablauf",
    authentication: "Client-Authentifizierung",
    scopes: "Scopes",
    scopesHint: "Erlauben Sie auch {scope}: Shops fragen oft nach dem Namen der Person.",
    claims: "Claims",
    claimsHint: "Hilfreich, aber nicht nötig: {claims}.",
    clientId: "Client-ID",
    clientIdHint:
      "So hat der Shop sie eingetragen. Wenn Ihr Client eine andere ID bekommt, teilen Sie sie dem Shop mit.",
    document: "Discovery-Dokument",
    secret:
      "Senden Sie dem Shop Client-ID und Client-Secret auf einem sicheren Weg. Diese Seite nimmt kein Secret entgegen.",
  },
  checks: {
    heading: "Anforderungen",
    text: "Die Anmeldung funktioniert, wenn Ihr Anbieter alle erfüllt.",
    never: "Noch nicht geprüft.",
    checkedAt: "Geprüft: {time}.",
    checkNow: "Jetzt prüfen",
    checkAgain: "Erneut prüfen",
    nextAt: "Die nächste Prüfung ist ab {time} möglich.",
    status: { met: "erfüllt", not_met: "nicht erfüllt", unknown: "noch nicht bekannt" },
    notRead: "Zeigt sich, sobald das Discovery-Dokument gelesen werden kann.",
    atFirstSignIn: "Zeigt sich bei der ersten Anmeldung.",
    details: "Einzelheiten",
  },
  requirements: {
    R1: {
      what: "Er ist mit OpenID Connect kompatibel.",
      remedy:
        "Veröffentlichen Sie ein vollständiges Discovery-Dokument und einen öffentlichen Signaturschlüssel. Signieren Sie ID-Token mit RS256, PS256, ES256 oder EdDSA.",
    },
    R2: {
      what: "Er akzeptiert die Client-Authentifizierung `client_secret_basic`.",
      remedy: "Erlauben Sie `client_secret_basic` für diesen Client.",
    },
    R3: {
      what: "Er erlaubt den Authorization Code Flow.",
      remedy:
        "Erlauben Sie für diesen Client den Response-Typ `code` und den Grant-Typ `authorization_code`. Verlangen Sie keine Pushed Authorization Requests und keine signierten Anfragen.",
    },
    R4: {
      what: "Er unterstützt den Scope `email` und liefert zu jeder Person eine E-Mail-Adresse.",
      remedy:
        "Erlauben Sie den Scope `email` für diesen Client. Jede Person braucht eine E-Mail-Adresse; sie muss im ID-Token oder in der UserInfo-Antwort stehen.",
    },
    R5: {
      what: "Er veröffentlicht ein Discovery-Dokument.",
      remedy: "Das Discovery-Dokument muss öffentlich abrufbar sein: https, Status 200, JSON.",
    },
    R6: {
      what: "Er verschlüsselt weder das ID-Token noch die UserInfo-Antwort.",
      remedy: "Schalten Sie die Verschlüsselung von ID-Token und UserInfo für diesen Client aus.",
    },
    R7: {
      what: "Die Audience (`aud`) des ID-Tokens ist nur die ID dieses Clients.",
      remedy: "Entfernen Sie alle anderen Audiences aus dem ID-Token.",
    },
    R8: {
      what: "Er verlangt in der Anfrage weder `nonce` noch `acr_values`.",
      remedy: "Verlangen Sie für diesen Client kein `acr_values`.",
      unknown: "Sie brauchen nichts zu tun: Jede Anfrage enthält eine `nonce`.",
    },
    R9: {
      what: "Er verlässt sich nicht darauf, dass `auth_time` geprüft wird.",
      remedy: "Verlassen Sie sich für diesen Client nicht auf die Prüfung von `auth_time`.",
    },
  },
  places: {
    heading: "Wo Sie die Einstellungen in {provider} finden",
    callback: "Redirect-URI",
    secret: "Client-Secret",
    method: "Client-Authentifizierung",
    code_flow: "Ablauf",
    email: "E-Mail-Adresse",
    encryption: "Verschlüsselung",
    audience: "Audience",
    signing: "Signatur",
    logout: "Abmeldung",
  },
  over: {
    heading: "Dieser Link funktioniert nicht",
    text: "Er ist abgelaufen, der Shop hat ihn beendet, oder die Adresse ist unvollständig.",
    remedy:
      "Prüfen Sie, ob Sie die ganze Adresse geöffnet haben. Wenn ja, bitten Sie den Shop um einen neuen Link.",
  },
};
