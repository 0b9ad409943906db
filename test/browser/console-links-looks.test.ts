import { expect, test } from 'vitest';
import { seeAll } from './analytics.ts';
import { findings, openConsole, type Viewing } from './console.ts';
import { withLinks } from './link-stage.ts';

const stage = withLinks();

const VIEWS: readonly Viewing[] = (['en', 'fa'] as const).flatMap((language) =>
  (['light', 'dark'] as const).map((scheme) => ({ language, scheme })),
);

test.each(VIEWS)('the page of a link is usable at each width: %j', async (viewing) => {
  const { app } = await stage.site();
  const link = await stage.made(app, { segment: 'country==IR;page!=/x,page=@of' });
  const { context, page, complaints } = await openConsole(stage.browser, stage.service, viewing);
  await page.emulateMedia({ colorScheme: viewing.scheme ?? 'light', reducedMotion: 'reduce' });
  const ended = { ...link, token: `${link.token}0` };
  for (const [kind, address, mark] of [
    ['shared', stage.addressOf(link), '.tile'],
    ['embed', stage.addressOf(link, 'embed'), '.tile'],
    ['ended', stage.addressOf(ended), '.state'],
  ] as const) {
    // The address of before differs in its fragment alone.
    await page.goto('about:blank');
    await page.goto(address);
    await page.locator(mark).first().waitFor();
    await seeAll(page);
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect([kind, width, isWider, await findings(page)]).toEqual([kind, width, false, []]);
    }
  }
  expect(complaints).toEqual([]);
  await context.close();
});
