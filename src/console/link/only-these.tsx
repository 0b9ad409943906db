import { KINDS } from '../analytics/panels/chips.tsx';
import { alike, type FilterBy, filtersOf } from '../analytics/view/filters.ts';
import { useWords } from '../analytics/words.ts';
import { useText } from '../i18n/use-text.ts';

/** The segment of a link, which nobody who opened it can change. */
export function OnlyThese({ segment }: { readonly segment: string }) {
  const { link } = useText();
  const { text, name } = useWords();
  const clauses = filtersOf(segment).map((filter) =>
    alike(filter)
      .map(([first, ...others]) => {
        const label = text.filters[first.by as FilterBy] ?? first.by;
        const operator = text.operators[first.operator as keyof typeof text.operators];
        const values = [first, ...others].map(({ by, value }) =>
          name(KINDS[by] ?? 'text', value === '' ? null : value),
        );
        return `${label} ${operator} ${values.join(text.or)}`;
      })
      .join(text.or),
  );
  return (
    <section className="only-these" aria-label={link.onlyThese}>
      <p>{link.onlyThese}</p>
      <ul>
        {clauses.map((clause) => (
          <li key={clause}>
            <bdi>{clause}</bdi>
          </li>
        ))}
      </ul>
    </section>
  );
}
