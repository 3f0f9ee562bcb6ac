import type { TestWords } from "./en.ts";

export const ja: TestWords = {
  title: "テストログイン",
  passed: {
    heading: "テストに成功しました",
    text: "通常のログインであれば、このユーザーはこの時点でログインしています。",
  },
  failed: { heading: "テストに失敗しました" },
  marks: { passed: "合格", failed: "不合格" },
  answer: {
    heading: "プロバイダーの応答",
    from: "応答元",
    calls: {
      discovery: "ディスカバリードキュメント",
      authorize: "認可エンドポイント",
      token: "トークンエンドポイント",
      userinfo: "UserInfoエンドポイント",
    },
    status: "HTTPステータス",
    fault: "障害",
  },
  person: {
    email: "メールアドレス",
    verified: "{email}（プロバイダーが確認済み）",
    unverified: "{email}（プロバイダーは未確認）",
    name: "名前",
    subject: "識別子（sub）",
  },
  requirements: {
    heading: "実際のログインでしか確認できない要件",
    confirmed: "このログインで確認できました。",
    notReached: "この確認の前にログインが終了しました。",
  },
  checks: {
    heading: "検証項目",
    expected: "期待値",
    found: "実際の値",
    asExpected: "想定どおりです",
    notAsExpected: "想定と異なります",
  },
  time: {
    heading: "所要時間",
    steps: {
      discovery: "ディスカバリードキュメント",
      wait: "順番待ち",
      token: "トークンエンドポイント",
      identify: "鍵、IDトークン、UserInfo",
    },
  },
  nothingCreated: "顧客、コード、トークンは作成されていません。",
};
