import { RECIPES } from "virtual:recipes";
import { useId } from "react";
import { ProductMark } from "../providers/provider-mark.tsx";

type Props = { value: string; onChoose: (product: string) => void };

/** A choice that shows the form of the address; the check recognises the product by itself. */
export function ChooseProduct({ value, onChoose }: Props) {
  const name = useId();
  const options = [...Object.values(RECIPES), { key: "", name: "Another provider" }];
  return (
    <fieldset>
      <legend className="quiet small">Choose a product to see what its address looks like.</legend>
      <div className="products">
        {options.map((option) => (
          <label key={option.key} className="product">
            <input
              type="radio"
              className="only-read-out"
              name={name}
              checked={option.key === value}
              onChange={() => onChoose(option.key)}
            />
            <ProductMark of={option.key} />
            {option.name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
