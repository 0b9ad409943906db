import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useAnalytics } from '../context.ts';
import { useWords } from '../words.ts';
import { keepProperty, keptProperties } from './kept-properties.ts';

/** The name of a property has at most so many characters. */
const LONGEST = 64;

/** Asks which property of the event to list. The API lists the values of one, so a person names it. */
export function PropertyChoice() {
  const { appId, view, change } = useAnalytics();
  const { text } = useWords();
  const [typed, setTyped] = useState(view.property);
  const show = (property: string): void => {
    if (property === '') return;
    keepProperty(appId, view.event, property);
    change({ property, sort: '' });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    show(typed.trim());
  };
  const known = keptProperties(appId, view.event);
  return (
    <form className="whole-controls" onSubmit={submit}>
      <TextInput
        label={text.whole.property}
        description={text.whole.propertyHint}
        value={typed}
        maxLength={LONGEST}
        list="known-properties"
        autoComplete="off"
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <datalist id="known-properties">
        {known.map((property) => (
          <option key={property} value={property} />
        ))}
      </datalist>
      <Button type="submit" disabled={typed.trim() === ''}>
        {text.range.apply}
      </Button>
      <Button variant="default" onClick={() => change({ event: '', property: '', sort: '' })}>
        {text.whole.allEvents}
      </Button>
    </form>
  );
}
