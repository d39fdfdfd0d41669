import { isJson } from '../contract/describe.ts'
import type { Account, PullRecord, World } from './world.ts'
import { notFound } from './refusal.ts'

export interface Ask {
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  body: Fields
  who: Account
  world: World
}

export interface Answer {
  status: number
  /** What is stated of the answer; the rest is filled in as GitHub describes it. */
  body?: unknown
  headers?: Record<string, string>
}

export interface Route {
  /** What a GITHUB_TOKEN needs, as GitHub names it: 'pull_requests=write'; alternatives by ';'. */
  needs: string
  /** A person needs to be able to push. */
  push?: boolean
  handle(ask: Ask): Answer | Promise<Answer>
}

export type Routes = Record<string, Route>

/** A request's body was proven to be as described before anybody reads it here. */
export class Fields {
  readonly #values: Record<string, unknown>
  constructor(body: unknown) {
    this.#values = isJson(body) ? body : {}
  }
  text(key: string): string | undefined {
    const value = this.#values[key]
    return typeof value === 'string' ? value : undefined
  }
  flag(key: string): boolean | undefined {
    const value = this.#values[key]
    return typeof value === 'boolean' ? value : undefined
  }
  texts(key: string): string[] {
    const value = this.#values[key]
    return Array.isArray(value) ? value.map(String) : []
  }
  record(key: string): Record<string, unknown> {
    const value = this.#values[key]
    return isJson(value) ? value : {}
  }
}

export function numbered({ params, world }: Ask): PullRecord {
  const number = Number(params['pull_number'] ?? params['issue_number'])
  const pull = world.pulls.find(each => each.number === number)
  if (!pull) throw notFound()
  return pull
}

/** One page of a list, with the links to the others. */
export function paged<T>(
  { query, world, params }: Ask,
  all: readonly T[],
  path: string,
): Answer & { body: T[] } {
  const size = Math.min(Number(query['per_page'] ?? 30), 100)
  const page = Number(query['page'] ?? 1)
  const last = Math.max(1, Math.ceil(all.length / size))
  const link = (to: number, rel: string) => {
    const rest = new URLSearchParams({ ...query, per_page: String(size), page: String(to) })
    return `<${world.url}/api/v3/repos/${params['owner']}/${params['repo']}${path}?${rest.toString()}>; rel="${rel}"`
  }
  const links = [
    ...(page > 1 ? [link(page - 1, 'prev'), link(1, 'first')] : []),
    ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
  ]
  const body = all.slice((page - 1) * size, page * size)
  return { status: 200, body, ...(links.length === 0 ? {} : { headers: { link: links.join(', ') } }) }
}
