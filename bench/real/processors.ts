import { readFileSync } from 'node:fs'
import { cpus, platform } from 'node:os'

/** The processors that this process and its children may use: fewer than all where it was started with taskset. */
export function listUsableProcessors(): Set<number> {
  if (platform() !== 'linux') return new Set(cpus().keys())
  const status = readFileSync('/proc/self/status', 'utf8')
  return parseProcessorList(/^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '')
}

/** Reads a list of Linux, such as "0-3,8". */
export function parseProcessorList(list: string): Set<number> {
  const ranges = list.split(',').map(range => range.split('-').map(Number))
  return new Set(
    ranges.flatMap(([first = 0, last = first]) =>
      Array.from({ length: last - first + 1 }, (_, at) => first + at),
    ),
  )
}
