import * as argon2 from "@node-rs/argon2";
import { COST } from "./limit-customers.ts";
import { answerJson, listen, sendReady, whenRead } from "./node-http.ts";

/** A single Argon2id with Latchkey's parameters behind bare `node:http`. Latchkey adds every cost above this. */
const password = "correct horse battery staple";
const hash = await argon2.hash(password, COST);

const url = await listen((request, response) =>
  whenRead(request, async (text) => {
    const isRight = await argon2.verify(hash, JSON.parse(text).data.password);
    answerJson(response, isRight ? 200 : 400, { data: { type: "token" } });
  }),
);
sendReady({ url, customer: { id: "", token: "", email: "password@shop.example", password } });
