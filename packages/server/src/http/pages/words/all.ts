import type { Language } from "../language.ts";
import { de } from "./de.ts";
import { en, type PageWords } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { ja } from "./ja.ts";

export const pageWords: Record<Language, PageWords> = { en, de, fr, es, ja };
