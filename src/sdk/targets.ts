const INTERACTIVE =
  'a,button,input,select,textarea,summary,[role=button],[role=link],[role=tab],[role=menuitem],[role=option]';
/** Attributes that a framework generates or that contain a record's number: not the same tomorrow. */
const GENERATED = /\d{3}|[^\w-]|^data-v-/;

const idOf = (element: Element): string => {
  // A form's `id` may be its field of that name.
  const id = element.getAttribute('id');
  return id && !GENERATED.test(id) ? `#${id}` : '';
};

/** Of the nearest ancestor that has one. */
const idAbove = ({ parentElement }: Element): string =>
  parentElement ? idOf(parentElement) || idAbove(parentElement) : '';

/**
 * Returns a short stable name for an element. The name is the tag with the id (`button#buy`), else with the name of a data
 * attribute (`a[data-plan]`), else below the nearest ancestor with an id (`#menu a`). It never contains text or a value.
 */
export function elementName(element: Element): string {
  const tag = element.localName;
  const data = element.getAttributeNames().find((name) => /^data-/.test(name) && !GENERATED.test(name));
  const own = idOf(element) || (data && `[${data}]`);
  return own ? tag + own : `${idAbove(element)} ${tag}`.trim();
}

/** Names a clicked element. Undefined for a click on a label whose field gets a click of its own. */
export function clickTarget(clicked: Element): string | undefined {
  const control = clicked.closest(INTERACTIVE);
  const label = clicked.closest('label');
  if (label?.control && !label.control.contains(clicked) && !label.contains(control)) return undefined;
  return elementName(control ?? clicked);
}
