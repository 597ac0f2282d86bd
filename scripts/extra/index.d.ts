/** The folder with the packages of the extra tools, which are installed on first use. */
export declare function extraModules(): string;
