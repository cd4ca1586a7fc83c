/** Setting of a SQLite file that `migrate-store` has copied: the name of the database that holds the installation now. */
export const migratedTo = 'migrated_to';

/** Setting of a database server: the id of the data folder that was copied into it, once the copy is complete. */
export const migratedFrom = 'migrated_from';
