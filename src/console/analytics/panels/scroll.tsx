import type { ReactNode } from 'react';

/** Something that can be wider than its place. The keyboard scrolls it, so it takes the focus. */
export const Scroll = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
  // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1: without the focus, no key scrolls it.
  <div className="scroll" role="group" aria-label={label} tabIndex={0}>
    {children}
  </div>
);
