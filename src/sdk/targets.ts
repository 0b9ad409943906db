const INTERACTIVE =
  'a,button,input,select,textarea,summary,[role=button],[role=link],[role=tab],[role=menuitem],[role=option]';
/** Attributes that a framework generates or that contain a record's number: not the same tomorrow. */
const GENERATED = /\d{3}|[^\w-]|^data-v-/;

const ownName = (element: Element): string => {
  if (element.id && !GENERATED.test(element.id)) return `#${element.id}`;
  const data = element.getAttributeNames().find((name) => /^data-/.test(name) && !GENERATED.test(name));
  return data ? `[${data}]` : '';
};

/**
 * Returns a short stable name for a clicked element. The name is the tag with the id (`button#buy`), else
 * with the name of a data attribute (`a[data-plan]`), else below the nearest named ancestor (`#menu a`). It
 * never contains text or a value. Undefined for a click on a label whose field gets a click of its own.
 */
export function clickTarget(clicked: Element): string | undefined {
  const control = clicked.closest(INTERACTIVE);
  const label = clicked.closest('label');
  if (label?.control && !label.control.contains(clicked) && !label.contains(control)) return undefined;
  const element = control ?? clicked;
  const tag = element.localName;
  const own = ownName(element);
  if (own) return (tag + own).slice(0, 512);
  for (let above = element.parentElement; above; above = above.parentElement) {
    if (above.id && !GENERATED.test(above.id)) return `#${above.id} ${tag}`.slice(0, 512);
  }
  return tag;
}
