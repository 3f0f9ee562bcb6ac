import type { Sentence } from "../shopper-messages.ts";

export const ja: Record<Sentence, string> = {
  "We couldn't sign you in. Trying again won't help. Try another way, or contact us.":
    "ログインできませんでした。やり直しても解決しません。別の方法でログインするか、お問い合わせください。",
  "This sign-in has ended. Please start again.":
    "このログインは終了しました。もう一度最初からお試しください。",
  "Please sign in to continue.": "続けるにはログインしてください。",
  "This way to sign in does not work right now. Please try again soon, or choose another.":
    "この方法では現在ログインできません。しばらくしてからもう一度お試しいただくか、別の方法を選んでください。",
  "We are very busy right now. Please try again in a moment.":
    "ただいま大変混み合っています。少し待ってからもう一度お試しください。",
  "You were not signed in. You can try again, or choose another way.":
    "ログインされませんでした。もう一度お試しいただくか、別の方法を選んでください。",
  "This sign-in was used already. If you are not signed in, please start again.":
    "このログインはすでに使用されています。ログインしていない場合は、もう一度最初からお試しください。",
  "Too many tries. Please wait a little.": "試行回数が多すぎます。しばらくお待ちください。",
  "This sign-in has ended or was started in another browser. Please start again.":
    "このログインは終了したか、別のブラウザーで開始されました。もう一度最初からお試しください。",
  "We couldn't verify your sign-in. Please start again.":
    "ログインを確認できませんでした。もう一度最初からお試しください。",
  "The connection broke off. Please try again.": "接続が切れました。もう一度お試しください。",
  "The answer could not be read. Please try again.": "応答を読み取れませんでした。もう一度お試しください。",
  "We couldn't sign you in with this account. Try another way, or contact us.":
    "このアカウントではログインできませんでした。別の方法でログインするか、お問い合わせください。",
  "Wrong e-mail or password.": "メールアドレスまたはパスワードが正しくありません。",
  "This e-mail already has an account.": "このメールアドレスのアカウントはすでに存在します。",
  "Something went wrong on our side. Please try again.":
    "こちら側で問題が発生しました。もう一度お試しください。",
  "You sign in with your other account, so you have no password here.":
    "別のアカウントでログインされているため、ここで設定するパスワードはありません。",
};
