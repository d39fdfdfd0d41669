import { formatCount } from '../decide/wording.ts'
import type { HeldResources } from '../measure/holdings.ts'
import type { Spec } from '../spec/schema.ts'

/** From here on Linux gives ports to whoever asks for any: nobody fights over those. */
const FIRST_OF_THE_SYSTEM = 32_768

/** Go's build cache names a file by what is in it: what one side leaves there is what the other would have made. */
const BY_CONTENT = /\/go-build\/(?:[0-9a-f]{2}\/[0-9a-f]{64}-[ad]|trim\.txt)$/

/** What executions side by side would fight over, as far as it was seen, and which keys keep them apart. */
export function describeResourceConflicts({ ports, files, devices }: HeldResources, spec: Spec): string[] {
  const { execution, parallel } = spec
  const serial = execution.mode === 'serial' || parallel.exclusive_resources.length > 0
  if (serial) return []
  const own = files.filter(file => !BY_CONTENT.test(file))
  const fixed = ports.filter(port => port < FIRST_OF_THE_SYSTEM)
  return [
    ...(fixed.length === 0 || parallel.port_strategy === 'parameterized' ? [] : [describePorts(fixed)]),
    ...(devices.length === 0 ? [] : [describeDevices(devices)]),
    ...(own.length === 0 ? [] : [describeSharedFiles(own)]),
  ]
}

function describePorts(ports: readonly number[]): string {
  return `it listened on ${formatCount(ports.length, 'port')} (${formatFewNames(ports.map(String))}): where several run at once, read it from a variable (parallel.port_strategy: parameterized, parallel.port_env_var, parallel.port_base), or set execution.mode: serial`
}

function describeDevices(devices: readonly string[]): string {
  return `it used ${formatFewNames(devices)}: parallel.exclusive_resources: [accelerator] keeps executions one at a time`
}

function describeSharedFiles(files: readonly string[]): string {
  const locks = files.some(file => /\.(?:lock|lck|pid|sqlite3?|db)(?:-journal|-wal)?$/.test(file))
  const what = locks
    ? 'such files are shared by all executions'
    : 'what one side leaves there the other finds'
  return `it wrote outside its own copy (${formatFewNames(files)}): ${what}; use $TMPDIR or $WINNOW_OUT_DIR, or set execution.mode: serial`
}

function formatFewNames(names: readonly string[]): string {
  return names.slice(0, 3).join(', ') + (names.length > 3 ? ', …' : '')
}
