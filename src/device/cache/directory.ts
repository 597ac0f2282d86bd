/** The directory in which compiled kernels are kept between processes. */
import { type Host, pathOn } from "../host.ts";

/**
 * Returns the path of the cache directory: the one that the environment variable FEYNKAC_CACHE names, otherwise the
 * platform's standard directory for caches. Undefined if FEYNKAC_CACHE is `off`.
 */
export function cacheDirectory(host: Host): string | undefined {
  const { FEYNKAC_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = host.environment;
  if (FEYNKAC_CACHE === "off") return undefined;
  if (FEYNKAC_CACHE !== undefined && FEYNKAC_CACHE !== "") return FEYNKAC_CACHE;
  switch (host.platform) {
    case "win32":
      return pathOn(host, LOCALAPPDATA, "feynkac", "cache") ?? pathOn(host, host.home, "AppData", "Local", "feynkac");
    case "darwin":
      return pathOn(host, host.home, "Library", "Caches", "feynkac");
    default:
      return pathOn(host, XDG_CACHE_HOME, "feynkac") ?? pathOn(host, host.home, ".cache", "feynkac");
  }
}
