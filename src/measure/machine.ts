import { arch, cpus, hostname, platform, release, totalmem } from 'node:os'
import { hashSha256 } from '../model/canonical.ts'
import type { MachineInfo } from '../model/report.ts'
import { getBootId } from './boot-id.ts'

/** Where a report was made; `machineKey` of the model says which of these must agree to compare stored numbers. */
export function readMachineFingerprint(env: Readonly<Record<string, string>>): MachineInfo {
  const processors = cpus()
  const image = [env['ImageOS'], env['ImageVersion']].filter(part => part !== undefined && part !== '')
  return {
    boot_id: getBootId(),
    hostname_sha256: hashSha256(hostname()),
    os: `${platform()} ${arch()}`,
    kernel: release(),
    cpu_model: processors[0]?.model.trim() ?? 'unknown',
    cores: Math.max(1, processors.length),
    memory_mb: Math.max(1, Math.round(totalmem() / 2 ** 20)),
    image: image.length === 0 ? null : image.join(' '),
    node: process.version,
  }
}
