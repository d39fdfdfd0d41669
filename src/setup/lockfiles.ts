import type { ProjectLocation } from './findings.ts'

/** Where the nearest of these files lies, from a project's directory up to the top of its repository. */
export function findNearestAbove(
  { repository, directory }: ProjectLocation,
  names: readonly string[],
): FoundFile | null {
  const there = new Set(repository.paths)
  for (let at: string | null = directory; at !== null; at = getParentDirectory(at)) {
    const name = names.find(each => there.has(at === '' ? each : `${at}/${each}`))
    if (name !== undefined) return { name, directory: at, steps: countStepsUp(directory, at) }
  }
  return null
}

interface FoundFile {
  name: string
  directory: string
  /** How many directories above the project's. */
  steps: number
}

function getParentDirectory(directory: string): string | null {
  if (directory === '') return null
  return directory.includes('/') ? directory.slice(0, directory.lastIndexOf('/')) : ''
}

function countStepsUp(from: string, to: string): number {
  const depth = (directory: string) => (directory === '' ? 0 : directory.split('/').length)
  return depth(from) - depth(to)
}

/** A command that is to run some directories above; it is alone in its shell, so nothing has to go back. */
export function runAbove(steps: number, command: string): string {
  return steps === 0 ? command : `cd ${Array.from({ length: steps }, () => '..').join('/')} && ${command}`
}

/** The same for a command that is not the last of its line. */
export function runAboveAndReturn(steps: number, command: string): string {
  return steps === 0 ? command : `(${runAbove(steps, command)})`
}
