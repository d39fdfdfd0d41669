/**
 * Looks up a name that a spec, a harness or a lockfile chose. It may be `constructor`, which every record inherits and
 * none has.
 */
export function getOwnValue<T>(
  record: Readonly<Record<string, T>> | null | undefined,
  name: string,
): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined
}
