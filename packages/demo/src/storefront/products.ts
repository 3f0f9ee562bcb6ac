type Product = { id: string; name: string; wood: string; text: string; euros: number };

/** The chair comes first, because it is at the top of the page. */
export const products: readonly Product[] = [
  {
    id: "chair",
    name: "The Evening Chair",
    wood: "Alder, oiled",
    text: "One bow bent in steam, seven spindles, a seat carved until nobody wanted to get up.",
    euros: 340,
  },
  {
    id: "lamp",
    name: "Low Sun",
    wood: "Pine veneer",
    text: "A table lamp that makes every hour look like the last one before supper.",
    euros: 128,
  },
  {
    id: "bowl",
    name: "Orchard Bowl",
    wood: "Alder, turned",
    text: "Turned from one piece. The rings are the tree's own; the pears are not included.",
    euros: 74,
  },
  {
    id: "board",
    name: "Sunday Board",
    wood: "Pine and walnut",
    text: "For bread, cheese and long breakfasts. Hangs by its own leather loop.",
    euros: 52,
  },
  {
    id: "bird",
    name: "Wren",
    wood: "Offcuts of everything",
    text: "Too small for a stool, too good for the stove. She looks wherever you turn her.",
    euros: 38,
  },
];

/** The price for signed-in customers, in whole cents. */
const membersEuros = ({ euros }: Product): number => Math.round(euros * 90) / 100;

const shown = (euros: number): string => `€${Number.isInteger(euros) ? euros : euros.toFixed(2)}`;

/** The page contains both prices, and shows the right price when the visitor is known. */
export const priceTag = (product: Product): string =>
  `<p class="price"><span class="price-full">${shown(product.euros)}</span>` +
  `<span class="price-member"><span class="price-label">for you</span> ${shown(membersEuros(product))}</span></p>`;

export const productCard = (product: Product, picture: string): string => `<article class="product">
        <div class="product-picture product-${product.id}">${picture}</div>
        <h3>${product.name}</h3>
        <p class="product-wood">${product.wood}</p>
        <p class="product-text">${product.text}</p>
        ${priceTag(product)}
      </article>`;
