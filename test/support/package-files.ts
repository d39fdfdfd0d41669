/** What `npm install` leaves in package.json and package-lock.json, as far as npm's own files go. */
export type Wanted = Record<string, { version: string; scripts?: boolean }>

function packageJson(wanted: Wanted, rest: Record<string, unknown> = {}): string {
  const dependencies = rangesOf(wanted)
  return `${JSON.stringify({ name: 'size', private: true, ...rest, dependencies }, null, 2)}\n`
}

function packageLock(wanted: Wanted): string {
  const installed = Object.entries(wanted).map(([name, { version, scripts }]) => [
    `node_modules/${name}`,
    {
      version,
      resolved: `https://registry.npmjs.org/${name}/-/${name}-${version}.tgz`,
      integrity: integrityOf(name, version),
      license: 'MIT',
      ...(scripts === true ? { hasInstallScript: true } : {}),
    },
  ])
  const packages = { '': { name: 'size', dependencies: rangesOf(wanted) }, ...Object.fromEntries(installed) }
  return `${JSON.stringify({ name: 'size', lockfileVersion: 3, requires: true, packages }, null, 2)}\n`
}

/** What its files are compared with; of files that nobody has. */
export function integrityOf(name: string, version: string): string {
  return `sha512-${Buffer.from(`${name} ${version}`).toString('base64')}`
}

function rangesOf(wanted: Wanted): Record<string, string> {
  return Object.fromEntries(Object.entries(wanted).map(([name, { version }]) => [name, `^${version}`]))
}

/** A package.json and its lockfile with these packages, where a project keeps them. */
export function packageFiles(wanted: Wanted, rest: Record<string, unknown> = {}): Record<string, string> {
  return { 'package.json': packageJson(wanted, rest), 'package-lock.json': packageLock(wanted) }
}
