-- The role of the service: it can connect to its database, and make its tables there. It is no superuser, and owns no database.
\set password `cat /run/secrets/plants`
CREATE ROLE "plants" LOGIN PASSWORD :'password';
REVOKE ALL ON DATABASE "plants" FROM PUBLIC;
GRANT CONNECT ON DATABASE "plants" TO "plants";
GRANT USAGE, CREATE ON SCHEMA public TO "plants";
