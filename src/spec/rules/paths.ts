import { isCoveredByPattern } from '../cover.ts'
import { hasMagic } from '../pathspec.ts'
import type { SpecFinding, SpecPath } from '../problem.ts'
import { ALWAYS_IMMUTABLE } from '../scope.ts'
import { createSpecFinding, type RuleContext } from './rule.ts'

const CONTROL_CHARACTER = /\p{Cc}/u

/** Why this is no path inside the repository; undefined when it is one. */
function explainOutsidePath(path: string): string | undefined {
  if (CONTROL_CHARACTER.test(path)) return 'a control character'
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('~')) return 'an absolute path'
  if (path.split('/').includes('..')) return 'a path with ..'
  if (path.startsWith('-')) return 'a leading -, which a command would take for an option'
  return undefined
}

function explainRefusedPattern(pattern: string): string | undefined {
  if (pattern.startsWith('!') || pattern.startsWith(':!') || pattern.startsWith(':^')) return 'a negation'
  if (hasMagic(pattern)) return 'pathspec magic'
  return explainOutsidePath(pattern)
}

function reportWrongPath(
  path: SpecPath,
  written: string,
  why: string | undefined,
  fix: string,
): SpecFinding[] {
  if (why === undefined) return []
  return [
    createSpecFinding(
      path,
      `${JSON.stringify(written)}: ${why}`,
      'a path inside the repository, relative to its top',
      fix,
    ),
  ]
}

export function checkScopePatterns({ spec }: RuleContext): SpecFinding[] {
  return (['mutable', 'immutable'] as const).flatMap(list =>
    spec.scope[list].flatMap((pattern, index) => {
      const why = explainRefusedPattern(pattern)
      const fix = why === 'a negation' ? 'list it under scope.immutable, which wins' : 'rewrite the pattern'
      return reportWrongPath(['scope', list, index], pattern, why, fix)
    }),
  )
}

/** Overlap is fine, immutable wins; a mutable pattern of which nothing is left is a mistake. */
export function requireReachableMutable({ spec }: RuleContext): SpecFinding[] {
  const walls = [...spec.scope.immutable, ...ALWAYS_IMMUTABLE]
  return spec.scope.mutable.flatMap((pattern, index) => {
    const wall = walls.find(immutable => isCoveredByPattern(immutable, pattern))
    if (wall === undefined) return []
    const found = `${JSON.stringify(pattern)}, all of it inside immutable ${JSON.stringify(wall)}`
    return [
      createSpecFinding(
        ['scope', 'mutable', index],
        found,
        'something that may change',
        'remove it, or narrow the immutable one',
      ),
    ]
  })
}

export function checkWorkingDirectory({ spec }: RuleContext): SpecFinding[] {
  const { working_directory: directory } = spec.measurement
  const path = ['measurement', 'working_directory']
  return reportWrongPath(
    path,
    directory,
    explainOutsidePath(directory),
    'write it relative to the top of the repository',
  )
}

export function checkSharedFiles({ spec }: RuleContext): SpecFinding[] {
  return spec.parallel.shared_files.flatMap((file, index) =>
    reportWrongPath(
      ['parallel', 'shared_files', index],
      file,
      explainOutsidePath(file),
      'copy the file into the repository directory',
    ),
  )
}

export function checkArtifactPaths({ spec }: RuleContext): SpecFinding[] {
  return spec.artifacts.flatMap(({ path }, index) =>
    reportWrongPath(
      ['artifacts', index, 'path'],
      path,
      explainOutsidePath(path),
      'write it relative to the top of the repository',
    ),
  )
}

export function checkEnvFilePath({ spec }: RuleContext): SpecFinding[] {
  const path = spec.measurement.env_file?.path
  if (path === undefined) return []
  return reportWrongPath(
    ['measurement', 'env_file', 'path'],
    path,
    explainOutsidePath(path),
    'write it relative to the top of the repository',
  )
}

export function checkPatchFolders({ spec }: RuleContext): SpecFinding[] {
  return spec.propose.flatMap((proposer, index) =>
    proposer.use === 'patch'
      ? reportWrongPath(
          ['propose', index, 'dir'],
          proposer.dir,
          explainOutsidePath(proposer.dir),
          'commit the patches to a folder of this repository, and name that',
        )
      : [],
  )
}
