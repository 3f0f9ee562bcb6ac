import type { Language } from "../language.ts";
import { de } from "./de.ts";
import { en, type TestWords } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { ja } from "./ja.ts";

export const testWords: Record<Language, TestWords> = { en, de, fr, es, ja };
