import { RECIPES } from "virtual:recipes";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import type { Recipe } from "../../recipes.ts";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { useRealms } from "../parts/realms.ts";
import { Problem } from "../parts/text/problem.tsx";
import { Words } from "../parts/text/words.tsx";
import { useAdmin } from "../session/session.ts";
import { judgeAddress, toIssuer } from "./address.ts";
import { ChooseProduct } from "./choose-product.tsx";
import { Found } from "./found.tsx";
import type { Made } from "./name-it.tsx";

/**
 * The first step reads the provider and saves nothing. The address of the page has the product and the checked address,
 * so a reload shows the same, and Back returns to the address before.
 */
export function FindProvider({ onMade }: { onMade: (made: Made) => void }) {
  const [search, setSearch] = useSearchParams();
  const product = search.get("recipe") ?? "";
  const asked = search.get("address") ?? "";
  const [{ typed, over }, setTyped] = useState({ typed: asked, over: asked });
  const [isTried, setTried] = useState(false);
  const type = (text: string) => setTyped({ typed: text, over: asked });
  // After Back the address of the page has another provider than the field.
  if (over !== asked) type(asked);
  const realms = useRealms();
  const fault = judgeAddress(typed);
  const isSound = asked !== "" && !judgeAddress(asked);
  const check = useChecks(isSound ? asked : undefined, realms.data?.[0]?.id);
  const at = (address: string) => setSearch({ ...(product && { recipe: product }), address });
  const choose = (next: string) => {
    const whole = wholeIssuer(next);
    if (whole) type(whole);
    else if (typed === wholeIssuer(product)) type("");
    setSearch({ ...(next && { recipe: next }), ...(asked && { address: asked }) }, { replace: true });
  };
  return (
    <>
      <Form
        noValidate
        onSubmit={() => {
          setTried(true);
          if (fault) return;
          const issuer = toIssuer(typed);
          type(issuer);
          if (issuer === asked) void check.refetch();
          else at(issuer);
        }}
      >
        <h2>Which provider is it?</h2>
        <ChooseProduct value={product} onChoose={choose} />
        <AddressField
          recipe={RECIPES[product]}
          value={typed}
          onType={type}
          fault={isTried ? fault : undefined}
        />
        {realms.error && <Problem error={realms.error} again={() => void realms.refetch()} />}
        <div className="form-actions">
          <button
            type="submit"
            className={check.data ? "button button-plain" : "button"}
            disabled={check.isFetching || !realms.data}
          >
            {check.isFetching ? "Reading the provider…" : check.data ? "Check again" : "Check the provider"}
          </button>
          <span className="quiet small">Nothing is saved yet.</span>
        </div>
      </Form>
      {check.isFetching && !check.data && <SkeletonRows rows={3} />}
      {check.error && <Problem error={check.error} />}
      {check.data && realms.data && (
        <Found
          key={asked}
          address={asked}
          report={check.data}
          realms={realms.data}
          product={product}
          onOther={at}
          onMade={onMade}
        />
      )}
    </>
  );
}

type AddressProps = {
  recipe: Recipe | undefined;
  value: string;
  onType: (text: string) => void;
  fault: string | undefined;
};

const AddressField = ({ recipe, ...field }: AddressProps) => (
  <Field
    label="Address"
    hint={
      recipe ? (
        <>
          {recipe.name}: <Words of={recipe.issuer} />
        </>
      ) : (
        "The issuer, its discovery document, or your tenant’s address."
      )
    }
    spellCheck={false}
    autoComplete="off"
    inputMode="url"
    {...field}
  />
);

/** Read once for each address: every check is one of the store's tries. */
function useChecks(address: string | undefined, realmId: string | undefined) {
  const admin = useAdmin();
  return useQuery({
    queryKey: ["checks before saving", address],
    queryFn: async () =>
      (await admin.profiles(realmId ?? "").checkBeforeSaving({ discovery_url: address ?? "" })).data,
    enabled: address !== undefined && realmId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
}

/** The issuer of a product that has one for everyone. */
function wholeIssuer(product: string): string | undefined {
  const issuer = RECIPES[product]?.issuer;
  return issuer && /^https:\/\/[^\s<>]+$/.test(issuer) ? issuer : undefined;
}
