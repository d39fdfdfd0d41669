import { isTable, type ProjectFiles, getNestedValue } from '../project-files.ts'

const FOR_TESTS = /^(?:dev|develop|development|tests?|testing|bench|benchmarks?)$/i

/** Requirement files that a benchmark or a test may need; those of documentation and of linters are none. */
export function listRequirementFiles({ paths }: ProjectFiles): string[] {
  const wanted = /^requirements(?:[-_.](?:dev|tests?|testing|bench|benchmarks?))?\.txt$/
  return paths.filter(path => wanted.test(path) || /^requirements\/(?:base|dev|tests?)\.txt$/.test(path))
}

export function listExtras(manifest: unknown): string[] {
  const extras = getNestedValue(manifest, 'project', 'optional-dependencies')
  return isTable(extras) ? Object.keys(extras).filter(name => FOR_TESTS.test(name)) : []
}

/** Of groups that are no extras, which not every pip understands by name. */
export function listGroupPackages(manifest: unknown): string[] {
  const groups = getNestedValue(manifest, 'dependency-groups')
  if (!isTable(groups)) return []
  return Object.entries(groups).flatMap(([name, packages]) =>
    FOR_TESTS.test(name) && Array.isArray(packages)
      ? packages.filter((one): one is string => typeof one === 'string')
      : [],
  )
}

export function hasPackageName(text: string, name: string): boolean {
  return new RegExp(`(?:^|["'\\s,\\[])${name}(?![\\w-])`, 'm').test(text)
}
