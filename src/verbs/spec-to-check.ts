import { readdir, readFile } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { nullIfMissing } from '../git/bare-repository.ts'
import { nearest } from '../spec/suggest.ts'
import type { Call } from './call.ts'
import { type KnownCampaign, knownCampaigns, nameOfFile } from './known-campaigns.ts'
import { committedText } from './unused-work.ts'

export interface SpecText {
  /** In the repository. */
  path: string
  yaml: string
  source: 'work tree' | 'default branch'
}

/** A spec can be checked before it is committed: the work tree's text where there is one. */
export async function specToCheck(call: Call, workshop: Workshop): Promise<SpecText> {
  const { topLevel } = workshop.checkout
  const path = await chosenPath(call, workshop)
  const here = topLevel === null ? null : await readFile(join(topLevel, path), 'utf8').catch(nullIfMissing)
  if (here !== null) return { path, yaml: here, source: 'work tree' }
  const committed = await committedText(workshop, path)
  if (committed !== null) return { path, yaml: committed, source: 'default branch' }
  const near = nearest(path, await pathsHere(workshop))
  throw new UserError(`there is no spec ${path}, neither in the work tree nor on the default branch`, {
    place: { file: path },
    fix: near === undefined ? 'write it: four lines are enough' : `did you mean ${near}?`,
  })
}

async function chosenPath({ given, around }: Call, workshop: Workshop): Promise<string> {
  const [spec] = given.positionals
  if (spec !== undefined) return inRepository(workshop, around.directory, spec)
  const known = await knownCampaigns(workshop)
  const paths = new Set([...(await pathsHere(workshop)), ...known.flatMap(each => each.specPath ?? [])])
  const name = given.text('campaign')
  const meant = name === undefined ? [...paths] : [...paths].filter(path => nameOf(known, path) === name)
  const [only, another] = meant
  if (only === undefined) {
    throw new UserError(
      name === undefined ? 'there is no spec here' : `there is no spec of campaign ${name}`,
      {
        place: { file: '.winnow/<name>.yaml' },
        fix: 'write one, or name a file: winnow check path/to/spec.yaml',
      },
    )
  }
  if (another === undefined) return only
  throw new UserError(`there are several specs: ${meant.toSorted().join(', ')}`, {
    fix: `name one: winnow check ${only}`,
  })
}

function nameOf(known: readonly KnownCampaign[], path: string): string {
  return known.find(({ specPath }) => specPath === path)?.name ?? nameOfFile(path)
}

function inRepository({ checkout }: Workshop, directory: string, spec: string): string {
  if (checkout.topLevel === null) return spec
  const path = relative(checkout.topLevel, resolve(directory, spec))
  if (!path.startsWith('..') && !isAbsolute(path)) return path
  throw new UserError(`${spec} is outside the repository`, {
    place: { file: spec },
    fix: `put it below ${checkout.topLevel}/.winnow`,
  })
}

async function pathsHere({ checkout }: Workshop): Promise<string[]> {
  if (checkout.topLevel === null) return []
  const names = await readdir(join(checkout.topLevel, '.winnow')).catch(nullIfMissing)
  return (names ?? []).filter(name => /\.ya?ml$/.test(name)).map(name => `.winnow/${name}`)
}
