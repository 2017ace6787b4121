// The docs page extends Swagger UI: it can keep the token, shows exact integers, and hides a list of only one server.

declare const location: { readonly pathname: string }

/** The parts of Swagger UI that the plugin uses (https://swagger.io/docs/open-source-tools/swagger-ui/customization/plug-points/). */
interface System {
  readonly React: { createElement: (type: unknown, props: object | null, ...children: unknown[]) => unknown }
  readonly authActions: { restoreAuthorization: (saved: { authorized: unknown }) => void }
  readonly authSelectors: { authorized: () => { toJS: () => unknown } }
  readonly specSelectors: { servers: () => Servers }
}

interface Servers {
  readonly size: number
  first: () => { getIn: (path: readonly string[]) => string | undefined }
}

type Action = (...payload: unknown[]) => void

/** A plugin of Swagger UI. Browsers get the source text of this function, so it must not use anything outside of it. */
export function docsPage() {
  const key = `authorization of ${location.pathname}`
  const save = ({ authSelectors }: System) =>
    sessionStorage.setItem(key, JSON.stringify(authSelectors.authorized().toJS()))

  // JavaScript rounds integers beyond 2^53. This parser makes BigInts of them.
  const { parse, stringify } = JSON
  JSON.parse = (text: string, revive?: ((name: string, value: unknown) => unknown) | null): unknown =>
    parse(text, (name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown => {
      const isRounded = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      const exact = isRounded ? BigInt(source) : value
      return revive ? revive(name, exact) : exact
    })
  Object.assign(BigInt.prototype, {
    toJSON(this: bigint) {
      return JSON.rawJSON(String(this))
    },
  })
  // The YAML parser of Swagger UI rounds them, too. An invisible mark turns them into texts; it is removed before they are
  // shown or sent. Bounds must be numbers, so bounds beyond 2^53 are left out.
  const mark = (yaml: string) =>
    yaml
      .replaceAll(/(exclusive)?(minimum|maximum): -?\d{16,},?/gi, '')
      .replaceAll(/(?<=[:,-] |\[)-?\d{16,}(?= *[,\]}#\n])/g, '\u2060$&')
  JSON.stringify = (value: unknown, ...options: [never, never]) =>
    (stringify(value, ...options) as string | undefined)?.replaceAll(/"\u2060(-?\d+)"/g, '$1') as string

  const updateSpec = (update: Action) => (yaml: unknown) => update(mark(String(yaml)))
  const changeParamByIdentity = (change: Action) => (path: unknown, parameter: unknown, value: unknown, xml: unknown) =>
    change(path, parameter, typeof value === 'string' ? value.replace('\u2060', '') : value, xml)

  const loaded =
    (load: Action, { authActions }: System) =>
    () => {
      load()
      authActions.restoreAuthorization({ authorized: JSON.parse(sessionStorage.getItem(key) ?? '{}') as unknown })
    }
  const persistAuthorizationIfNeeded = (_persist: Action, system: System) => () => {
    if (sessionStorage.getItem(key) !== null) save(system)
  }
  const AuthorizeBtnContainer = (Button: unknown, system: System) => (props: object) => {
    const { createElement } = system.React
    const onChange = ({ target }: { target: { checked: boolean } }) =>
      target.checked ? save(system) : sessionStorage.removeItem(key)
    const box = { type: 'checkbox', defaultChecked: sessionStorage.getItem(key) !== null, onChange }
    const label = createElement('label', null, createElement('input', box), ' Keep the token when this tab reloads')
    return createElement(
      'section',
      { className: 'authorize-bar', 'aria-label': 'Access' },
      label,
      createElement(Button, props),
    )
  }

  // With one server there is nothing to choose. Its address is shown only if it is absolute.
  const ServersContainer =
    (Choice: unknown, { React, specSelectors }: System) =>
    (props: object) => {
      const servers = specSelectors.servers()
      if (servers.size > 1) return React.createElement(Choice, props)
      const server = servers.first()
      const variable = (_: string, name: string) => String(server.getIn(['variables', name, 'default']))
      const url = server.getIn(['url'])?.replaceAll(/\{(.+?)\}/g, variable) ?? ''
      return /^https?:/.test(url)
        ? React.createElement('section', { 'aria-label': 'Server' }, `Requests go to ${url}`)
        : null
    }

  return {
    statePlugins: {
      spec: { wrapActions: { updateSpec, changeParamByIdentity } },
      configs: { wrapActions: { loaded } },
      auth: { wrapActions: { persistAuthorizationIfNeeded } },
    },
    wrapComponents: { AuthorizeBtnContainer, ServersContainer },
  }
}
