import type { Language } from "../language.ts";
import { de } from "./de.ts";
import { en, type SetupWords } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { ja } from "./ja.ts";

export const setupWords: Record<Language, SetupWords> = { en, de, fr, es, ja };
