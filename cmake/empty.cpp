// A room without sources yet is still a library.
