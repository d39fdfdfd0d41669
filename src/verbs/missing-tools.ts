import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const BUILT_IN = new Set(['cd', 'sh', 'echo', 'printf', 'test', 'true', 'set', 'exit'])

/** Programs that the drafted commands start and that this machine does not have: said before a check fails. */
export function findMissingTools(
  commands: readonly string[],
  env: Readonly<Record<string, string>>,
): string[] {
  const names = new Set(commands.flatMap(listStartedPrograms))
  return [...names]
    .filter(name => !isThere(name, env['PATH'] ?? ''))
    .map(name => `${name} is not on the PATH of this machine: nothing can be tried before it is installed`)
}

/** The first word of every part of a command, assignments passed over; paths are the project's own. */
function listStartedPrograms(command: string): string[] {
  return command.split(/&&|\|\||[;|]/).flatMap(part => {
    const word =
      part
        .replace(/^[\s(]+/, '')
        .split(/\s+/)
        .find(each => !/^\w+=/.test(each)) ?? ''
    return /^[\w.+-]+$/.test(word) && !BUILT_IN.has(word) ? [word] : []
  })
}

function isThere(name: string, path: string): boolean {
  return path.split(delimiter).some(directory => isExecutable(join(directory, name)))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // Absent or not to be started: for whoever looks for a program that is the same.
    return false
  }
}
