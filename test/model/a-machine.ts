import type { Report } from '../../src/model/report.ts'

/** A machine as its report tells of it. */
export const MACHINE = {
  boot_id: 'boot',
  hostname_sha256: 'c'.repeat(64),
  os: 'linux',
  kernel: '6',
  cpu_model: 'cpu',
  cores: 2,
  memory_mb: 1024,
  image: null,
  node: 'v20',
} satisfies Report['machine']
