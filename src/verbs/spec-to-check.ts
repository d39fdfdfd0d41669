import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { findNearestWord } from '../spec/suggest.ts'
import type { Call } from './call.ts'
import { toSpecName } from './committed-specs.ts'
import { type KnownCampaign, listKnownCampaigns } from './known-campaigns.ts'
import { readCommittedText } from './unused-work.ts'

export interface SpecText {
  /** In the repository. */
  path: string
  yaml: string
  source: 'work tree' | 'default branch'
}

/** A spec can be checked before it is committed: the work tree's text where there is one. */
export async function readSpecToCheck(call: Call, workshop: RepositoryContext): Promise<SpecText> {
  const { topLevel } = workshop.checkout
  const path = await selectSpecPath(call, workshop)
  const here = topLevel === null ? null : await readWorkTreeText(topLevel, path)
  if (here !== null) return { path, yaml: here, source: 'work tree' }
  const committed = await readCommittedText(workshop, path)
  if (committed !== null) return { path, yaml: committed, source: 'default branch' }
  const near = findNearestWord(path, await listWorkTreeSpecs(workshop))
  throw new UserError(`there is no spec ${path}, neither in the work tree nor on the default branch`, {
    place: { file: path },
    fix: near === undefined ? 'write it: four lines are enough' : `did you mean ${near}?`,
  })
}

async function readWorkTreeText(topLevel: string, path: string): Promise<string | null> {
  const file = join(topLevel, path)
  const found = await stat(file).catch(toNullIfMissing)
  if (found?.isDirectory() !== true) return readFile(file, 'utf8').catch(toNullIfMissing)
  const specs = (await readdir(file)).filter(name => /\.ya?ml$/.test(name)).toSorted()
  throw new UserError(`${path === '' ? '.' : path} is a directory, not a spec`, {
    place: { file: path },
    fix: `name a file: winnow check ${join(path, specs[0] ?? 'spec.yaml')}`,
  })
}

async function selectSpecPath({ given, around }: Call, workshop: RepositoryContext): Promise<string> {
  const { checkout } = workshop
  const [spec] = given.positionals
  const known = await listKnownCampaigns(workshop)
  const paths = new Set([...(await listWorkTreeSpecs(workshop)), ...known.flatMap(each => each.paths)])
  if (spec !== undefined) {
    const path = toSpecPath(workshop, around.directory, spec)
    const named = [...paths].filter(each => findSpecName(known, each) === spec)
    const isFile = checkout.topLevel !== null && existsSync(join(checkout.topLevel, path))
    return named.length === 1 && !isFile && !paths.has(path) ? (named[0] ?? path) : path
  }
  const name = given.text('campaign')
  const meant =
    name === undefined ? [...paths] : [...paths].filter(path => findSpecName(known, path) === name)
  const [only, another] = meant
  if (only === undefined) {
    throw new UserError(
      name === undefined ? 'there is no spec here' : `there is no spec of campaign ${name}`,
      {
        place: { file: '.winnow/<name>.yaml' },
        fix: 'winnow init writes one; or name a file: winnow check path/to/spec.yaml',
      },
    )
  }
  if (another === undefined) return only
  throw new UserError(`there are several specs: ${meant.toSorted().join(', ')}`, {
    fix: `name one: winnow check ${only}`,
  })
}

function findSpecName(known: readonly KnownCampaign[], path: string): string {
  return known.find(({ paths }) => paths.includes(path))?.name ?? toSpecName(path)
}

function toSpecPath({ checkout }: RepositoryContext, directory: string, spec: string): string {
  if (checkout.topLevel === null) return spec
  const path = relative(checkout.topLevel, resolve(directory, spec))
  if (!path.startsWith('..') && !isAbsolute(path)) return path
  throw new UserError(`${spec} is outside the repository`, {
    place: { file: spec },
    fix: `put it below ${checkout.topLevel}/.winnow`,
  })
}

async function listWorkTreeSpecs({ checkout }: RepositoryContext): Promise<string[]> {
  if (checkout.topLevel === null) return []
  const names = await readdir(join(checkout.topLevel, '.winnow')).catch(toNullIfMissing)
  return (names ?? []).filter(name => /\.ya?ml$/.test(name)).map(name => `.winnow/${name}`)
}
