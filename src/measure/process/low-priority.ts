/** Low enough to leave a core to what another process times, high enough to go on where every core is taken. */
const NICE = 10

/** The same command at low priority, with everything it starts; as it is where the machine has no `nice`. */
export function lowerPriority(command: string): string {
  const quoted = `'${command.replaceAll("'", String.raw`'\''`)}'`
  return `command -v nice >/dev/null 2>&1 || exec /bin/sh -c ${quoted}\nexec nice -n ${NICE} /bin/sh -c ${quoted}`
}
