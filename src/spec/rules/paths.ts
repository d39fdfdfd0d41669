import { covers } from '../cover.ts'
import { hasMagic } from '../pathspec.ts'
import type { Finding, SpecPath } from '../problem.ts'
import { ALWAYS_IMMUTABLE } from '../scope.ts'
import { finding, type RuleContext } from './rule.ts'

const CONTROL = /\p{Cc}/u

/** Why this is no path inside the repository; undefined when it is one. */
function notInside(path: string): string | undefined {
  if (CONTROL.test(path)) return 'a control character'
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('~')) return 'an absolute path'
  if (path.split('/').includes('..')) return 'a path with ..'
  if (path.startsWith('-')) return 'a leading -, which a command would take for an option'
  return undefined
}

function notAPattern(pattern: string): string | undefined {
  if (pattern.startsWith('!') || pattern.startsWith(':!') || pattern.startsWith(':^')) return 'a negation'
  if (hasMagic(pattern)) return 'pathspec magic'
  return notInside(pattern)
}

function wrong(path: SpecPath, written: string, why: string | undefined, fix: string): Finding[] {
  if (why === undefined) return []
  return [
    finding(
      path,
      `${JSON.stringify(written)}: ${why}`,
      'a path inside the repository, relative to its top',
      fix,
    ),
  ]
}

export function scopePatterns({ spec }: RuleContext): Finding[] {
  return (['mutable', 'immutable'] as const).flatMap(list =>
    spec.scope[list].flatMap((pattern, index) => {
      const why = notAPattern(pattern)
      const fix = why === 'a negation' ? 'list it under scope.immutable, which wins' : 'rewrite the pattern'
      return wrong(['scope', list, index], pattern, why, fix)
    }),
  )
}

/** Overlap is fine, immutable wins; a mutable pattern of which nothing is left is a mistake. */
export function mutableIsReachable({ spec }: RuleContext): Finding[] {
  const walls = [...spec.scope.immutable, ...ALWAYS_IMMUTABLE]
  return spec.scope.mutable.flatMap((pattern, index) => {
    const wall = walls.find(immutable => covers(immutable, pattern))
    if (wall === undefined) return []
    const found = `${JSON.stringify(pattern)}, all of it inside immutable ${JSON.stringify(wall)}`
    return [
      finding(
        ['scope', 'mutable', index],
        found,
        'something that may change',
        'remove it, or narrow the immutable one',
      ),
    ]
  })
}

export function workingDirectoryInside({ spec }: RuleContext): Finding[] {
  const { working_directory: directory } = spec.measurement
  const path = ['measurement', 'working_directory']
  return wrong(path, directory, notInside(directory), 'write it relative to the top of the repository')
}

export function sharedFilesInside({ spec }: RuleContext): Finding[] {
  return spec.parallel.shared_files.flatMap((file, index) =>
    wrong(
      ['parallel', 'shared_files', index],
      file,
      notInside(file),
      'copy the file into the repository directory',
    ),
  )
}

export function artifactsInside({ spec }: RuleContext): Finding[] {
  return spec.artifacts.flatMap(({ path }, index) =>
    wrong(
      ['artifacts', index, 'path'],
      path,
      notInside(path),
      'write it relative to the top of the repository',
    ),
  )
}

export function envFileInside({ spec }: RuleContext): Finding[] {
  const path = spec.measurement.env_file?.path
  if (path === undefined) return []
  return wrong(
    ['measurement', 'env_file', 'path'],
    path,
    notInside(path),
    'write it relative to the top of the repository',
  )
}

export function patchFoldersInside({ spec }: RuleContext): Finding[] {
  return spec.propose.flatMap((proposer, index) =>
    proposer.use === 'patch'
      ? wrong(
          ['propose', index, 'dir'],
          proposer.dir,
          notInside(proposer.dir),
          'commit the patches to a folder of this repository, and name that',
        )
      : [],
  )
}
