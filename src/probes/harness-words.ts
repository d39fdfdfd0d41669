import type { Spec } from '../spec/schema.ts'

const SEPARATORS = /[\s"'`;|&()<>=]+/
const LEAST_LETTERS = 4

/**
 * Text in the command line of the harness that no gate has, by which code can tell the two apart. Null if nothing
 * distinguishes them.
 */
export function findHarnessWords({ measurement, gates }: Spec): string[] | null {
  const { command } = measurement
  const isOwn = (text: string) => !gates.some(gate => gate.command.includes(text))
  const words = [...new Set(command.split(SEPARATORS))].filter(
    word => word.length >= LEAST_LETTERS && !/^-|\$/.test(word) && isOwn(word),
  )
  const paths = words.filter(word => /[./]/.test(word)).map(word => word.replace(/^\.\//, ''))
  const whole = command.includes(' ') && isOwn(command) ? [command.trim()] : []
  if (paths.length + whole.length > 0) return [...whole, ...paths.filter(isOwn)]
  const [longest] = words.toSorted((a, b) => b.length - a.length)
  return longest === undefined ? null : [longest]
}
