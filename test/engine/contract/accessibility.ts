import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** The violations that are Swagger UI's own: its elements, as CSS selectors, by the rule of axe-core. */
export const OF_SWAGGER_UI: Readonly<Record<string, readonly string[]>> = {
  'button-name': ['.close-modal'],
  'color-contrast': [
    ...['.version', '.url', '.info__license__url > a', '.authorize > span', '.auth-btn-wrapper > .authorize'],
    ...['.opblock-summary-method', '.try-out__btn.cancel', '.opblock-put .try-out__btn, .opblock-put h4', '.execute'],
    ...['.microlight span', '.parameter__in', '.json-schema-2020-12__constraint--string'],
  ],
  'heading-order': ['.opblock-tag', '.modal-ux-header > h3'],
  label: ['.body-param__text'],
  'label-content-name-mismatch': ['.auth-btn-wrapper > .authorize'],
  'landmark-unique': ['.responses-table'],
  'nested-interactive': ['.opblock-summary-control'],
  region: ['.information-container'],
  'select-name': ['.examples-select-element', 'select[multiple]'],
}

interface Element {
  readonly matches: (selector: string) => boolean
}

/**
 * Checks what a page shows now by all rules of axe-core.
 * @param part a CSS selector
 * @returns `<rule> <selector of OF_SWAGGER_UI>` or, for any other element, `<rule> <element>: <reason>`
 */
export async function violationsOf(page: Page, part: string): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>(`axe.run('${part}', { resultTypes: ['violations'] })`)
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(async ({ target, html, failureSummary }) => {
      const known = await page
        .locator(String(target))
        .evaluate(
          (element: Element, selectors) => selectors.find((each) => element.matches(each)),
          OF_SWAGGER_UI[id] ?? [],
        )
      return `${id} ${known ?? `${html}: ${String(failureSummary)}`}`
    }),
  )
  return [...new Set(await Promise.all(found))].sort()
}
