// Tells whether a page of another site has made a request: browsers send cookies along with it,
// whoever has written the page.
import type { FastifyRequest } from 'fastify'

/** Whether a page of another site has made a request which may change something. */
export type IsFromOtherSite = (request: FastifyRequest) => boolean

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
/**
 * The values of `Sec-Fetch-Site` for requests of no other site. `none`: a person has made it, as
 * with a bookmark.
 */
const OWN_SITE = new Set(['same-origin', 'same-site', 'none'])

/**
 * Makes the check for it, by Fetch Metadata (https://www.w3.org/TR/fetch-metadata/). Without it, as over plain
 * HTTP, the host of `Origin` must be the one of the request. A request without both is not of a browser.
 * @param origins the trusted ones
 * @param baseUrl of the service. Behind a gateway, `Host` may be another one
 */
export function otherSiteCheck(origins: readonly string[], baseUrl: string): IsFromOtherSite {
  const ownHost = hostnameOf(baseUrl)
  return ({ method, raw, host }) => {
    if (SAFE_METHODS.has(method)) return false
    const { origin, 'sec-fetch-site': site } = raw.headers
    if (origin !== undefined && origins.includes(origin)) return false
    if (site !== undefined) return !OWN_SITE.has(site)
    if (origin === undefined) return false
    const hostname = hostnameOf(origin)
    return hostname === undefined || ![hostnameOf(`http://${host}`), ownHost].includes(hostname)
  }
}

/** The host of a URL without its port; undefined if the URL has none. */
function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname || undefined : undefined
}
