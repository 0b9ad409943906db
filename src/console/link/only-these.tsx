import { useFilterWords } from '../analytics/panels/filter-words.ts';
import { filtersOf } from '../analytics/view/filters.ts';
import { useText } from '../i18n/use-text.ts';

/** The segment of a link, which nobody who opened it can change. */
export function OnlyThese({ segment }: { readonly segment: string }) {
  const { link } = useText();
  const { written } = useFilterWords();
  const clauses = filtersOf(segment).map(written);
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
