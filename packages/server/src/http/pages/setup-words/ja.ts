import type { SetupWords } from "./en.ts";

export const ja: SetupWords = {
  heading: "お使いのIDプロバイダーに{shop}を登録する",
  text: "{shop}は、お使いのIDプロバイダーを通じたログインを希望しています。このページの値を使って、{shop}をOpenID ConnectのクライアントとしてIDプロバイダーに登録してください。",
  realm: "ショップ内の区分",
  provider: "ショップでのプロバイダーの名前",
  validUntil: "このリンクの有効期限：{time}",
  values: {
    heading: "登録する値",
    redirectUri: "リダイレクトURI",
    redirectUris: "リダイレクトURI",
    exactly: "表示のとおりに登録してください。ワイルドカードは使えません。",
    logoutUri: "バックチャネルログアウトURI",
    logoutHint:
      "プロバイダーが対応している場合：プロバイダーでセッションが終了すると、ショップのセッションも終了します。",
    signedOutUri: "ログアウト後のリダイレクトURI",
    flow: "フロー",
    authentication: "クライアント認証",
    scopes: "スコープ",
    scopesHint: "{scope}も許可してください。ショップがユーザーの名前を必要とすることがあります。",
    claims: "クレーム",
    claimsHint: "必須ではありませんが、あると役立つもの：{claims}",
    clientId: "クライアントID",
    clientIdHint: "ショップが入力した値です。別のIDを割り当てる場合は、ショップにお知らせください。",
    document: "ディスカバリードキュメント",
    secret:
      "クライアントIDとクライアントシークレットは、安全な方法でショップに伝えてください。このページではシークレットを受け取れません。",
  },
  checks: {
    heading: "要件",
    text: "プロバイダーがすべての要件を満たすと、ログインできるようになります。",
    never: "まだ確認していません。",
    checkedAt: "確認日時：{time}",
    checkNow: "今すぐ確認する",
    checkAgain: "もう一度確認する",
    nextAt: "次に確認できる日時：{time}",
    status: { met: "満たしています", not_met: "満たしていません", unknown: "まだ不明" },
    notRead: "ディスカバリードキュメントを読み取れるとわかります。",
    atFirstSignIn: "最初のログインでわかります。",
    details: "詳細",
  },
  requirements: {
    R1: {
      what: "OpenID Connectに準拠している。",
      remedy:
        "完全なディスカバリードキュメントと、署名用の公開鍵を公開してください。IDトークンにはRS256、PS256、ES256、EdDSAのいずれかで署名してください。",
    },
    R2: {
      what: "クライアント認証`client_secret_basic`に対応している。",
      remedy: "このクライアントに`client_secret_basic`を許可してください。",
    },
    R3: {
      what: "認可コードフローを許可している。",
      remedy:
        "このクライアントにレスポンスタイプ`code`とグラントタイプ`authorization_code`を許可してください。PAR（Pushed Authorization Requests）や署名付きリクエストを必須にしないでください。",
    },
    R4: {
      what: "スコープ`email`に対応し、すべてのユーザーのメールアドレスを返す。",
      remedy:
        "このクライアントにスコープ`email`を許可してください。すべてのユーザーにメールアドレスが必要です。IDトークンまたはUserInfoレスポンスに含めてください。",
    },
    R5: {
      what: "ディスカバリードキュメントを公開している。",
      remedy:
        "ディスカバリードキュメントは、インターネットから取得できる必要があります（https、ステータス200、JSON）。",
    },
    R6: {
      what: "IDトークンもUserInfoレスポンスも暗号化していない。",
      remedy: "このクライアントのIDトークンとUserInfoの暗号化を無効にしてください。",
    },
    R7: {
      what: "IDトークンのオーディエンス（`aud`）が、このクライアントのIDだけである。",
      remedy: "IDトークンからほかのオーディエンスをすべて削除してください。",
    },
    R8: {
      what: "リクエストに`nonce`や`acr_values`を必須としていない。",
      remedy: "このクライアントに`acr_values`を必須としないでください。",
      unknown: "対応は不要です。`nonce`はすべてのリクエストに含まれます。",
    },
    R9: {
      what: "`auth_time`の検証に依存していない。",
      remedy: "このクライアントで`auth_time`の検証に依存しないでください。",
    },
  },
  places: {
    heading: "{provider}での設定場所",
    callback: "リダイレクトURI",
    secret: "クライアントシークレット",
    method: "クライアント認証",
    code_flow: "フロー",
    email: "メールアドレス",
    encryption: "暗号化",
    audience: "オーディエンス",
    signing: "署名",
    logout: "ログアウト",
  },
  over: {
    heading: "このリンクは使えません",
    text: "有効期限が切れたか、ショップがリンクを無効にしたか、アドレスが途中で切れています。",
    remedy:
      "アドレス全体を開いたかご確認ください。それでも開けない場合は、ショップに新しいリンクを依頼してください。",
  },
};
