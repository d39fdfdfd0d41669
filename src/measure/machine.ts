import { arch, cpus, hostname, platform, release, totalmem } from 'node:os'
import { sha256 } from '../model/canonical.ts'
import type { Machine } from '../model/report.ts'
import { bootId } from './boot-id.ts'

/** Where a report was made; `machineKey` of the model says which of these must agree to compare stored numbers. */
export function machineFingerprint(env: Readonly<Record<string, string>>): Machine {
  const processors = cpus()
  const image = [env['ImageOS'], env['ImageVersion']].filter(part => part !== undefined && part !== '')
  return {
    boot_id: bootId(),
    hostname_sha256: sha256(hostname()),
    os: `${platform()} ${arch()}`,
    kernel: release(),
    cpu_model: processors[0]?.model.trim() ?? 'unknown',
    cores: Math.max(1, processors.length),
    memory_mb: Math.max(1, Math.round(totalmem() / 2 ** 20)),
    image: image.length === 0 ? null : image.join(' '),
    node: process.version,
  }
}
